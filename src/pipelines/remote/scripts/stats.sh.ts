// Generated from stats.sh by "npm run scripts".
export const script = `running=$(as_root docker ps -q --no-trunc </dev/null) || exit 1
[ -n "$running" ] || exit 0
as_root docker stats --no-stream --no-trunc --format 'usage|{{.ID}}|{{.CPUPerc}}|{{.MemUsage}}|{{.NetIO}}' $running </dev/null || exit 1
as_root docker inspect --type container --format 'container|{{.Id}}|{{.RestartCount}}|{{.State.StartedAt}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.Name}}' $running 2>/dev/null </dev/null
exit 0
`
