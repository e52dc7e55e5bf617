#!/bin/sh
# proxyRead.sh FILE SECONDS: prints the whole file, never in the middle of an edit; exits with 75 if an edit takes too
# long.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/proxyLock.sh"
take_lock -s "$2" || exit 75
as_root cat "$1"
