#!/bin/sh
# proxyAccess.sh FILE: tries to read the proxy file (else exits with 3) and to write to it (else 4), with the programs
# of an edit. Asks sudo if it allows tee, because a rule may allow exactly that. Otherwise appends nothing to the file,
# which leaves it unchanged, including its modification time.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
as_root cat "$1" >/dev/null </dev/null || exit 3
[ "$(id -u)" != 0 ] && as_root -l tee "$1" >/dev/null 2>&1 </dev/null && exit 0
as_root tee -a "$1" >/dev/null </dev/null || exit 4
