# shellcheck shell=sh
# Services that are stopped for a copy. .berth/stopped lists them: how compose is called, its file, then the services.
# docker_ids SERVICE: the containers of a service in this directory, without one-off ones.
docker_ids() {
  stack_ps '{{.ID}} {{.Label "com.docker.compose.oneoff"}} {{.Status}}' -a --filter "label=com.docker.compose.service=$1" |
    awk '$2 != "True"'
}
is_up() { docker_ids "$1" | awk '$3 == "Up" { up = 1 } END { exit !up }'; }
# act_on stop|start FILE SERVICE…: through compose, which minds their order; where another stack has the name of this
# one, compose would act on that too.
act_on() {
  act=$1
  act_file=$2
  shift 2
  if [ -z "$(stack_foreign)" ]; then compose_stack "$act_file" "$act" "$@" </dev/null; return; fi
  # shellcheck disable=SC2046 # A list of ids.
  as_root docker "$act" $(for service do docker_ids "$service" | cut -d ' ' -f 1; done) </dev/null
}
# start_stopped: starts them through compose; fails if one does not run afterwards. Never recreates a container.
start_stopped() {
  [ -s .berth/stopped ] || { rm -f .berth/stopped; return 0; }
  { IFS= read -r compose_kind && IFS= read -r stopped_file; } <.berth/stopped
  stopped_services=$(tail -n +3 .berth/stopped | tr '\n' ' ')
  start_foreign=$(stack_foreign)
  for pause in 1 2 4 0; do
    # shellcheck disable=SC2086 # A list of service names without spaces.
    start_words=$(act_on start "$stopped_file" $stopped_services 2>&1)
    down=
    for service in $stopped_services; do is_up "$service" || down="$down $service"; done
    [ -n "$down" ] || { rm -f .berth/stopped; return 0; }
    [ -z "$start_foreign" ] || { sleep "$pause"; continue; }
    # shellcheck disable=SC2086 # A list of service names without spaces.
    start_words=$(compose_stack "$stopped_file" up -d --no-deps --no-recreate --no-build $down 2>&1 </dev/null) && { rm -f .berth/stopped; return 0; }
    sleep "$pause"
  done
  echo "so$down did not start again: $(printf '%s\n' "$start_words" | tail -n 1)"
  return 1
}
