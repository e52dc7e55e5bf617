# shellcheck shell=sh
# find_compose sets compose_version, and compose_kind to v2 (docker compose), standalone (docker-compose 2.x), v1
# (docker-compose 1.x) or none. compose … runs the one found. A script may redefine known_compose to answer for 1.x,
# which takes a while to print its version.
known_compose() { return 1; }
# find_program sets compose_program to docker-compose, or to its path if sudo does not find it: its secure_path may lack
# the directory, and root has no plugins of the user, which also run by themselves.
compose_program=
find_program() {
  [ -z "$compose_program" ] || return 0
  compose_program=docker-compose
  [ "${berth_user:-0}" != 0 ] || return 0
  # shellcheck disable=SC2016 # The other shell runs it.
  [ "$(as_root sh -c 'command -v docker-compose || echo none' 2>/dev/null </dev/null)" = none ] || return 0
  for place in "$(command -v docker-compose)" /usr/local/bin/docker-compose "$HOME/.docker/cli-plugins/docker-compose"; do
    if [ -x "$place" ]; then compose_program=$place; return; fi
  done
}
find_compose() {
  compose_kind=none
  if compose_version=$(as_root docker compose version --short 2>/dev/null </dev/null) && [ -n "$compose_version" ]; then
    compose_kind=v2
  elif known_compose; then
    compose_kind=v1
  elif find_program && compose_version=$(as_root "$compose_program" version --short 2>/dev/null </dev/null) && [ -n "$compose_version" ]; then
    case $compose_version in
      1.*) compose_kind=v1 ;;
      *) compose_kind=standalone ;;
    esac
  else
    compose_version=
  fi
}
compose() {
  case $compose_kind in
    v2) as_root docker compose "$@" ;;
    v1 | standalone) find_program; as_root "$compose_program" "$@" ;;
    *) echo "neither docker compose nor docker-compose is installed" >&2; return 127 ;;
  esac
}
# stack_file [NAME]: prints the compose file of the stack in this directory: the first one that its last deploy noted, else
# NAME or the first of the usual names that exists.
stack_file() {
  stack_first=
  [ ! -f .berth/stack ] || stack_first=$(sed -n "s/^compose$(printf '\t')//p" .berth/stack | head -n 1)
  for name in "$stack_first" "$@" compose.yml compose.yaml docker-compose.yml docker-compose.yaml; do
    if [ -n "$name" ] && [ -f "$name" ]; then printf '%s\n' "$name"; return; fi
  done
}
# stack_variables NAME…: prints the name of the file with the variables of these files, later ones over earlier ones. Not
# all versions of compose take several.
stack_variables() {
  if [ "$#" -eq 1 ]; then printf '%s\n' "$1"; return; fi
  (umask 077; for name do cat "./$name" && echo || exit 1; done >"${stack_home:-.berth}/variables.new") &&
    mv -f "${stack_home:-.berth}/variables.new" "${stack_home:-.berth}/variables" && printf '%s\n' "${stack_home:-.berth}/variables"
}
# compose_stack FILE ARGUMENT…: runs compose with the files, profiles, variables and project name that the last deploy to this
# directory noted in .berth/stack (stack_home: in another directory), else with FILE alone; an empty FILE leaves that to
# compose.
compose_stack() {
  stack_only=$1
  shift
  stack_note=${stack_home:-.berth}/stack
  if [ ! -f "$stack_note" ] || [ ! -f "$(sed -n "s/^compose$(printf '\t')//p" "$stack_note" | head -n 1)" ]; then
    compose ${stack_only:+-f "$stack_only"} "$@"
    return
  fi
  stack_own=$#
  while IFS='	' read -r stack_key stack_value; do
    case $stack_key in
      compose) set -- "$@" -f "$stack_value" ;;
      profile) set -- "$@" --profile "$stack_value" ;;
      project) set -- "$@" -p "$stack_value" ;;
    esac
  done <"$stack_note"
  stack_values=$(sed -n "s/^variables$(printf '\t')//p" "$stack_note")
  if [ -n "$stack_values" ]; then
    stack_values=$(printf '%s\n' "$stack_values" | { set --; while IFS= read -r name; do set -- "$@" "$name"; done; stack_variables "$@"; }) || return 1
    set -- "$@" --env-file "$stack_values"
  fi
  while [ "$stack_own" -gt 0 ]; do
    stack_value=$1
    shift
    set -- "$@" "$stack_value"
    stack_own=$((stack_own - 1))
  done
  compose "$@"
}
