#!/bin/sh
# scan.sh LIMIT COMPOSE-FILE…: inspects every directory of ~/containers; skips links and unreadable ones. Prints
# `berth-scan`, then six fields for each directory: name, compose file (the first of these names that exists), env,
# data, archive, and up to LIMIT bytes of the compose file, each terminated by a NUL. Uses only globs and quoted
# expansions, so that a name is never interpreted as shell text.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
LC_ALL=C
export LC_ALL
printf 'berth-scan\0'
limit=$1
shift
# shellcheck disable=SC2088 # path_of expands it.
root=$(path_of "~/containers")
[ -e "$root" ] || exit 0
cd "$root" || exit 1
for name in * .[!.]* ..?*; do
  directory=./$name
  case $name in .berth*) continue ;; esac
  [ ! -L "$directory" ] && [ -d "$directory" ] && [ -r "$directory" ] && [ -x "$directory" ] || continue
  compose=
  for file do
    if [ -f "$directory/$file" ]; then compose=$file; break; fi
  done
  [ -z "$compose" ] || [ -r "$directory/$compose" ] || continue
  env=
  [ ! -f "$directory/.env" ] || env=yes
  data=
  [ ! -d "$directory/data" ] || data=yes
  archive=
  for file in "$directory"/*.tar; do
    if [ -f "$file" ]; then archive=${file##*/}; break; fi
  done
  printf '%s\0' "$name" "$compose" "$env" "$data" "$archive"
  [ -z "$compose" ] || head -c "$limit" <"$directory/$compose" | tr -d '\000'
  printf '\0'
done
exit 0
