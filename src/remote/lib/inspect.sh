# shellcheck shell=sh
# inspect ID…: what each container does now, a `container` line each. Its state is printed as JSON, since a template that
# asks for a health check fails on some versions where there is none; its age is worked out by the clock that its start
# time comes from.
inspect() {
  [ "$#" -gt 0 ] || return 0
  printf 'now\t%s\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)"
  as_root docker inspect --type container --format "$(printf 'container\t')"'{{.Id}}|{{.Name}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.HostConfig.RestartPolicy.Name}}|{{.RestartCount}}|{{json .State}}' "$@" 2>/dev/null </dev/null
}
