#!/bin/sh
# sample.sh: what a server and its running containers use now. Prints `load`, `memory` and `disk` lines like overview.sh, a
# `container` line of what each running container is, and a `usage` line of Docker's figures. A Docker that cannot be used
# ends it with 3, after what is known without it.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/alone.sh"
. "$(dirname "$0")/../lib/usage.sh"
stacks=$HOME/containers
[ -d "$stacks" ] || stacks=$HOME
disk_of containers "$stacks"
for try in 1 2 3; do
  list=$(as_root docker ps --no-trunc --format '{{.ID}}|{{.Label "com.docker.compose.service"}}|{{.Names}}' </dev/null) || exit 3
  root=${root-$(as_root docker info --format '{{.DockerRootDir}}' 2>/dev/null </dev/null)}
  [ -n "$list" ] || break
  list=$(printf '%s\n' "$list" | head -n 500)
  running=$(printf '%s\n' "$list" | cut -d '|' -f 1)
  # One look takes Docker a second or two, for all containers together, and fails when one of them is removed meanwhile.
  # shellcheck disable=SC2086 # one word an id
  said=$(as_root docker stats --no-stream --no-trunc --format 'usage|{{.ID}}|{{.CPUPerc}}|{{.MemUsage}}|{{.NetIO}}|{{.BlockIO}}' $running 2>&1 </dev/null) && break
  [ "$try" -lt 3 ] || { printf '%s\n' "$said" >&2; exit 3; }
done
[ ! -d "$root" ] || disk_of docker "$root"
[ -z "$list" ] || printf '%s\n' "$list" | sed 's/^/container|/'
[ -z "$list" ] || printf '%s\n' "$said"
exit 0
