#!/bin/sh
# restage.sh DIRECTORY RELEASE: copies the files of a release that differ from the current ones to the place for
# uploaded files, and prints their number.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")" || exit 1
from=.berth/releases/$2/files
tab=$(printf '\t')
files() { (cd "$from" && find . -type f -print0); }
[ "$(grep -c -e "^compose$tab" -e "^env$tab" -e "^file$tab" -e "^large$tab" "$from/../note")" -eq "$(files | tr -dc '\000' | wc -c)" ] ||
  { echo "some of its files are missing in $(pwd)/$from" >&2; exit 1; }
rm -rf .berth/incoming
mkdir -p .berth/incoming || exit 1
# sha256sum escapes a name with a backslash and starts its line with one.
{
  (cd "$from" && find . -type f -print0 | xargs -0 sha256sum) || exit 1
  echo there
  files | xargs -0 sha256sum 2>/dev/null
} | awk '
  $0 == "there" { there = 1; next }
  !there { lines[n++] = $0; next }
  { same[$0] = 1 }
  END {
    if (!there) exit 1
    for (i = 0; i < n; i++) if (!(lines[i] in same)) {
      name = lines[i]
      escaped = sub(/^\\/, "", name)
      name = substr(name, 67)
      if (escaped) gsub(/\\\\/, "\\", name)
      print name
    }
  }' | while IFS= read -r name; do
  mkdir -p ".berth/incoming/${name%/*}" && cp -p "$from/$name" ".berth/incoming/$name" || exit 1
done || exit 1
find .berth/incoming -type f | wc -l
