#!/bin/sh
# readiness.sh DIRECTORY: tries what a deploy to DIRECTORY needs of a server beside Docker, and removes what it makes.
# Prints `missing` with the name of each program that is not there; `unwritable` with the nearest directory that exists
# and the reason if no file can be written there; `unlocked` with that directory if a file there cannot be locked; and last `end`.
command -v path_of >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
for program in awk chmod cmp cp cut dd df dirname find flock grep head mktemp mv rm sed sha256sum sort tail tar tr xargs; do
  command -v "$program" >/dev/null || printf 'missing\t%s\n' "$program"
done
near=$(path_of "$1")
while [ ! -d "$near" ]; do
  # A dangling link, too.
  if [ -e "$near" ] || [ -L "$near" ]; then
    printf 'unwritable\t%s\tit is no directory\nend\n' "$near"
    exit 0
  fi
  near=$(dirname "$near")
done
file=
trap '[ -z "$file" ] || rm -f "$file"' EXIT
trap 'exit 1' HUP INT TERM
if ! said=$(mktemp "$near/.berth-test.XXXXXX" 2>&1); then
  printf 'unwritable\t%s\t%s\nend\n' "$near" "$(printf '%s\n' "$said" | tail -n 1)"
  exit 0
fi
file=$said
# shellcheck disable=SC2094 # The subshell's error, not the file.
if ! said=$( (echo written >"$file") 2>&1); then
  printf 'unwritable\t%s\t%s\n' "$near" "$(printf '%s\n' "$said" | tail -n 1)"
elif command -v flock >/dev/null && ! flock -n 9 9>>"$file"; then
  printf 'unlocked\t%s\n' "$near"
fi
echo end
