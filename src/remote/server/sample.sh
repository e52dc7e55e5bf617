#!/bin/sh
# sample.sh: prints the current usage of a server and its running containers: `load`, `memory` and `disk` lines like
# overview.sh, a `container` line that identifies each running container, and a `usage` line of Docker's figures. Exits
# with 3 if Docker cannot be used, after printing all other lines that are known.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/usage.sh"
. "$(dirname "$0")/../lib/dockerStats.sh"
stacks=$HOME/containers
[ -d "$stacks" ] || stacks=$HOME
disk_of containers "$stacks"
docker_stats 3 500 '{{.ID}}|{{.Label "com.docker.compose.service"}}|{{.Names}}' '{{.ID}}|{{.CPUPerc}}|{{.MemUsage}}|{{.NetIO}}|{{.BlockIO}}' || exit 3
root=$(as_root docker info --format '{{.DockerRootDir}}' 2>/dev/null </dev/null)
[ ! -d "$root" ] || disk_of docker "$root"
[ -z "$list" ] || printf '%s\n' "$list" | sed 's/^/container|/'
[ -z "$list" ] || printf '%s\n' "$said"
exit 0
