#!/bin/sh
# readPrivate.sh DIRECTORY NAME MOST: prints at most MOST bytes of a file that only root may read, in base64.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")" || exit 1
[ "$(as_root readlink -f "./$2" </dev/null)" = "$(pwd -P)/$2" ] || { echo "$2 is a link" >&2; exit 1; }
as_root head -c "$3" "./$2" </dev/null | base64
