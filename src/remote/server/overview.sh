#!/bin/sh
# overview.sh: prints the state of every stack on a server at once. Stdin has one remote path per line. Prints:
# `home` with the user's home directory;
# a `container` line for each compose container with its status, ports, names and its stack's directory;
# a `link` line for each of these directories that leads over a link, with its real path and the path;
# an `asked` line for each path that is a directory, with its number and real path;
# a `release` line for each of these directories with its current release;
# a `disk` line for the file system of ~/containers, and for that of Docker, with its size and free space in KiB, and
# its mount point;
# a `load` line with the load of the last minute and the number of processors;
# a `memory` line with its size and available memory in KiB.
# Exits with 3 if Docker cannot be used.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
tab=$(printf '\t')
. "$(dirname "$0")/../lib/usage.sh"
stacks=$HOME/containers
[ -d "$stacks" ] || stacks=$HOME
disk_of containers "$stacks"
list=$(as_root docker ps -a --format "container$tab{{.Status}}$tab{{.Ports}}$tab{{.Names}}$tab"'{{.Label "com.docker.compose.project.working_dir"}}' </dev/null) || exit 3
printf 'home\t%s\n' "$HOME"
root=$(as_root docker info --format '{{.DockerRootDir}}' 2>/dev/null </dev/null)
[ ! -d "$root" ] || disk_of docker "$root"
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
printf '%s\n' "$list" | cut -f 5- | sort -u | while IFS= read -r directory; do
  real=$(cd "$directory" 2>/dev/null && pwd -P) || real=$directory
  case $real in *"$tab"*) real=$directory ;; esac
  [ ! -d "$directory" ] || release_in "$directory"
  [ "$real" = "$directory" ] || printf 'link\t%s\t%s\n' "$real" "$directory"
done
exit 0
