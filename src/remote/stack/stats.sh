#!/bin/sh
# stats.sh: prints what each running container uses: a `usage` line of Docker's figures, and a `container` line of what it is.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/alone.sh"
# One look takes Docker a second or two, for all containers together, and fails when one of them is removed meanwhile.
for try in 1 2 3 4 5 6; do
  running=$(as_root docker ps -q --no-trunc </dev/null) || exit 1
  [ -n "$running" ] || exit 0
  # shellcheck disable=SC2086 # one word an id
  said=$(as_root docker stats --no-stream --no-trunc --format 'usage|{{.ID}}|{{.CPUPerc}}|{{.MemUsage}}|{{.NetIO}}' $running 2>&1 </dev/null) && break
  [ "$try" -lt 6 ] || { printf '%s\n' "$said" >&2; exit 1; }
done
printf '%s\n' "$said"
# shellcheck disable=SC2086
as_root docker inspect --type container --format 'container|{{.Id}}|{{.RestartCount}}|{{.State.StartedAt}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.Name}}' $running 2>/dev/null </dev/null
exit 0
