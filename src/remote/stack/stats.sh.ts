// Generated from stats.sh by "npm run scripts".
export const script = `docker_stats() {
list='' said='' left=$1
while [ "$left" -gt 0 ]; do
left=$((left - 1))
list=$(as_root docker ps --no-trunc --format "$3" </dev/null) || return 1
[ -n "$list" ] || return 0
list=$(printf '%s\\n' "$list" | head -n "$2")
said=$(as_root docker stats --no-stream --no-trunc --format "usage|$4" $(printf '%s\\n' "$list" | cut -d '|' -f 1) 2>&1 </dev/null) && return 0
done
printf '%s\\n' "$said" >&2
return 1
}
docker_stats 6 100000 '{{.ID}}' '{{.ID}}|{{.CPUPerc}}|{{.MemUsage}}|{{.NetIO}}' || exit 1
[ -n "$list" ] || exit 0
printf '%s\\n' "$said"
as_root docker inspect --type container --format 'container|{{.Id}}|{{.RestartCount}}|{{.State.StartedAt}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.Name}}' $list 2>/dev/null </dev/null
exit 0
`
