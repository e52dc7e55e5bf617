// Generated from outcome.sh by "npm run scripts".
export const script = `inspect() {
[ "$#" -gt 0 ] || return 0
printf 'now\\t%s\\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)"
as_root docker inspect --type container --format "$(printf 'container\\t')"'{{.Id}}|{{.Name}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.HostConfig.RestartPolicy.Name}}|{{.RestartCount}}|{{json .State}}' "$@" 2>/dev/null </dev/null
}
cd "$(path_of "$1")" 2>/dev/null || exit 0
[ -f .berth/outcome ] || exit 0
exec 8<.berth/activation || exit 0
flock -w 300 8 || { echo "the deploy to this directory has not ended" >&2; exit 1; }
printf 'run\\t'
cat .berth/outcome
[ ! -f .berth/said ] || sed "s/^/said$(printf '\\t')/" .berth/said
[ -f .berth/containers ] || exit 0
inspect $(cat .berth/containers)
`
