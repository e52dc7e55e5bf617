#!/bin/sh
# releaseFiles.sh DIRECTORY RELEASE: prints a `file` line with the sha256 of each file of a release, the lines of its
# compose files as `composefile1`, `composefile2`, … lines, and those of its variables as `env` lines.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")/.berth/releases/$2/files" || exit 1
tab=$(printf '\t')
find . -type f -print0 | xargs -0 -r sha256sum | sed "s/^/file$tab/"
# told KEY FILE: prints the unchanged lines of a file, prefixed with KEY.
told() { [ ! -f "$2" ] || { head -c 1048577 "$2" && echo; } 2>/dev/null | sed "s/^/$1$tab/"; }
noted() { sed -n "s/^$1$tab//p" ../note; }
number=0
noted compose | while IFS= read -r name; do
  number=$((number + 1))
  told "composefile$number" "./$name"
done
{ noted variables | grep . || echo .env; } | while IFS= read -r name; do told env "./$name"; done
