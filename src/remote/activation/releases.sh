#!/bin/sh
# releases.sh DIRECTORY: lists the releases of a directory. Prints a `release` line with the number of each, and
# `current` for the running one, then its note; and a `here` line for each of their image ids that the server has.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")" 2>/dev/null || exit 0
current=
[ ! -f .berth/current ] || IFS= read -r current <.berth/current
for note in .berth/releases/[0-9]*/note; do
  [ -f "$note" ] || continue
  release=${note%/note}
  release=${release##*/}
  marker=
  [ "$release" != "$current" ] || marker=current
  printf 'release\t%s\t%s\n' "$release" "$marker"
  cat "$note" || exit 1
done
ids=$(cat .berth/releases/[0-9]*/note 2>/dev/null | awk -F '\t' '$1 == "image" && !seen[$2]++ { print $2 }')
[ -n "$ids" ] || exit 0
# A missing image does not hide the others; an unreachable Docker is an error.
# shellcheck disable=SC2086 # A list of ids.
said=$(as_root docker image inspect --format 'here	{{.Id}}' $ids 2>&1 </dev/null) || as_root docker version --format '{{.Server.Version}}' </dev/null >/dev/null || exit 1
printf '%s\n' "$said" | grep '^here'
exit 0
