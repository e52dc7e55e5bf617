#!/bin/sh
# proxyDiscard.sh BEFORE AFTER SECONDS: removes private copies from the home directory, after any script that may still
# need them has ended.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/proxyLock.sh"
take_lock -x "$3"
rm -f "$HOME/$1" "$HOME/$2"
