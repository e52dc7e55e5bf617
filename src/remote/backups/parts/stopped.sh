# shellcheck shell=sh
# Services that are stopped for a copy. .berth/stopped lists them: how compose is called, its file, then the services.
# docker_ids SERVICE: the containers of a service in this directory, without one-off ones.
docker_ids() {
  as_root docker ps -a --no-trunc --filter "label=com.docker.compose.project.working_dir=$(pwd -P)" \
    --filter "label=com.docker.compose.service=$1" --format '{{.ID}} {{.Label "com.docker.compose.oneoff"}} {{.Status}}' </dev/null |
    awk '$2 != "True"'
}
is_up() { docker_ids "$1" | awk '$3 == "Up" { up = 1 } END { exit !up }'; }
# start_stopped: starts them through compose; fails if one does not run afterwards. Never recreates a container.
start_stopped() {
  [ -s .berth/stopped ] || { rm -f .berth/stopped; return 0; }
  { IFS= read -r compose_kind && IFS= read -r stopped_file; } <.berth/stopped
  stopped_services=$(tail -n +3 .berth/stopped | tr '\n' ' ')
  for pause in 1 2 4 0; do
    # shellcheck disable=SC2086 # A list of service names without spaces.
    start_words=$(compose_stack "$stopped_file" start $stopped_services 2>&1 </dev/null)
    down=
    for service in $stopped_services; do is_up "$service" || down="$down $service"; done
    [ -n "$down" ] || { rm -f .berth/stopped; return 0; }
    # shellcheck disable=SC2086 # A list of service names without spaces.
    start_words=$(compose_stack "$stopped_file" up -d --no-deps --no-recreate --no-build $down 2>&1 </dev/null) && { rm -f .berth/stopped; return 0; }
    sleep "$pause"
  done
  echo "so$down did not start again: $(printf '%s\n' "$start_words" | tail -n 1)"
  return 1
}
