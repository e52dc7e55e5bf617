# shellcheck shell=sh
# inspect ID…: prints a `container` line with the current state of each container. The state is printed as JSON,
# because on some versions a template fails for a container without a health check. Uptime is computed with the
# server's clock, which also sets the start time.
inspect() {
  [ "$#" -gt 0 ] || return 0
  printf 'now\t%s\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)"
  as_root docker inspect --type container --format "$(printf 'container\t')"'{{.Id}}|{{.Name}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.HostConfig.RestartPolicy.Name}}|{{.RestartCount}}|{{json .State}}' "$@" 2>/dev/null </dev/null
}
