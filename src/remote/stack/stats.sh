#!/bin/sh
# stats.sh: prints the usage of each running container: a `usage` line of Docker's figures, and a `container` line that
# identifies it.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/dockerStats.sh"
docker_stats 6 100000 '{{.ID}}' '{{.ID}}|{{.CPUPerc}}|{{.MemUsage}}|{{.NetIO}}' || exit 1
[ -n "$list" ] || exit 0
printf '%s\n' "$said"
# shellcheck disable=SC2086 # one word an id
as_root docker inspect --type container --format 'container|{{.Id}}|{{.RestartCount}}|{{.State.StartedAt}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.Name}}' $list 2>/dev/null </dev/null
exit 0
