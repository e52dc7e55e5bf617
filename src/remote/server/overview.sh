#!/bin/sh
# overview.sh: the state of every stack of a server, in one look. On stdin is a remote path a line. Prints `home` with the
# user's home; a `container` line for each container of compose with its status, ports, names and its stack's directory; an `asked` line for
# each path that is a directory, with its number and where it really is; for each of these directories a `release` line
# with what its deploys call the current one; and a `disk` line for the file system of ~/containers, and for that of Docker,
# with its size and what is free of it in KiB, and where it is mounted. A `load` line has the load of the last minute and the
# number of processors, a `memory` line its size and what is available of it in KiB. A Docker that cannot be used ends it with 3.
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
  [ ! -d "$directory" ] || release_in "$directory"
done
exit 0
