#!/bin/sh
# proxyAccess.sh FILE: tries to read the proxy file (else 3) and to write to it (else 4), with the programs that an edit
# uses. sudo tells whether it would let tee write: a rule may allow exactly that. Else appending nothing shows it, and
# changes nothing, the time of the last change included.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
as_root cat "$1" >/dev/null </dev/null || exit 3
[ "$(id -u)" != 0 ] && as_root -l tee "$1" >/dev/null 2>&1 </dev/null && exit 0
as_root tee -a "$1" >/dev/null </dev/null || exit 4
