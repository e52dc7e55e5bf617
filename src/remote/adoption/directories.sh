#!/bin/sh
# directories.sh: for each path in the lines of stdin that is a directory, prints `directory`, its number, `yes` if the
# user may write to it, and its path without links.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
number=0
while IFS= read -r given; do
  number=$((number + 1))
  path=$(path_of "$given")
  if real=$(cd "$path" 2>/dev/null && pwd -P); then
    writable=no
    [ ! -w "$real" ] || writable=yes
    printf 'directory\t%s\t%s\t%s\n' "$number" "$writable" "$real"
  elif as_root test -d "$path" 2>/dev/null </dev/null; then
    # Only root may enter it.
    printf 'directory\t%s\tno\t%s\n' "$number" "$path"
  fi
done
exit 0
