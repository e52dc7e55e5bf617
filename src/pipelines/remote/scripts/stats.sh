#!/bin/sh
# stats.sh: prints what each running container uses: a `usage` line of Docker's figures, and a `container` line of what it is.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/lib/alone.sh"
running=$(as_root docker ps -q --no-trunc </dev/null) || exit 1
[ -n "$running" ] || exit 0
# One look takes Docker a second or two, for all containers together.
# shellcheck disable=SC2086 # one word an id
as_root docker stats --no-stream --no-trunc --format 'usage|{{.ID}}|{{.CPUPerc}}|{{.MemUsage}}|{{.NetIO}}' $running </dev/null || exit 1
# shellcheck disable=SC2086
as_root docker inspect --type container --format 'container|{{.Id}}|{{.RestartCount}}|{{.State.StartedAt}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.Name}}' $running 2>/dev/null </dev/null
exit 0
