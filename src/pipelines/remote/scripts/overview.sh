#!/bin/sh
# overview.sh: what the stacks of a server do, in one look. On stdin is a remote path a line. Prints `home` with the home of
# the user; a `container` line for each container of compose with its status and its stack's directory; an `asked` line for
# each path that is a directory, with its number and where it really is; and for each of these directories a `release` line
# with what its deploys call the current one. A Docker that cannot be used ends it with 3.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/lib/alone.sh"
LC_ALL=C
export LC_ALL
tab=$(printf '\t')
list=$(as_root docker ps -a --format "container$tab{{.Status}}$tab"'{{.Label "com.docker.compose.project.working_dir"}}' </dev/null) || exit 3
printf 'home\t%s\n' "$HOME"
list=$(printf '%s\n' "$list" | grep "$tab/")
printf '%s\n' "$list"
release_in() {
  release=
  if [ -f "$1/.berth/current" ] && [ -r "$1/.berth/current" ]; then
    release=$(head -c 200 <"$1/.berth/current" | head -n 1)
  fi
  [ -z "$release" ] || printf 'release\t%s\t%s\n' "$release" "$1"
}
number=0
while IFS= read -r given; do
  number=$((number + 1))
  real=$(cd "$(path_of "$given")" 2>/dev/null && pwd -P) || continue
  printf 'asked\t%s\t%s\n' "$number" "$real"
  release_in "$real"
done
printf '%s\n' "$list" | cut -f 3- | sort -u | while IFS= read -r directory; do
  [ ! -d "$directory" ] || release_in "$directory"
done
exit 0
