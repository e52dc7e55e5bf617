// Generated from inspect.sh by "npm run scripts".
export const script = `inspect() {
[ "$#" -gt 0 ] || return 0
printf 'now\\t%s\\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)"
as_root docker inspect --type container --format "$(printf 'container\\t')"'{{.Id}}|{{.Name}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.HostConfig.RestartPolicy.Name}}|{{.RestartCount}}|{{json .State}}' "$@" 2>/dev/null </dev/null
}
inspect "$@"
exit 0
`
