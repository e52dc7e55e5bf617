#!/bin/sh
# keepCopy.sh ROOT NAME OUTDATED…: lists a copy whose files are written, by its manifest, which comes on stdin. Then
# removes those that are outdated.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")" || exit 1
name=$2
shift 2
umask 077
cat >"$name/manifest.new" || exit 1
[ "$(tail -n 1 "$name/manifest.new")" = end ] || { echo "the manifest did not arrive whole" >&2; exit 1; }
sync "$name"/* 2>/dev/null
mv "$name/manifest.new" "$name/manifest" || exit 1
for outdated do rm -rf "./${outdated:?}"; done
