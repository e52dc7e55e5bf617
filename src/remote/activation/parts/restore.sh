# shellcheck shell=sh
# Functions that restore the previous state from the records of prepare.sh.
restore_names() {
  while read -r id name _; do docker_quietly tag "$id" "$name"; done <"$1"
}
# docker-compose 1.x renames a container before it creates the next one, and does not rename it back on failure.
restore_containers() {
  while read -r _ _ id name; do
    is=$(as_root docker inspect --type container --format '{{.Name}}' "$id" 2>/dev/null </dev/null) || continue
    [ "$is" != "$name" ] || continue
    docker_quietly rm -f "${name#/}"
    docker_quietly rename "$id" "${name#/}"
  done <.berth/running
}
# Makes the previous release the current one again.
restore_current() { [ ! -f .berth/before ] || mv -f .berth/before .berth/current; }
restore_files() {
  restore_current
  while IFS= read -r name; do
    if [ -e "$previous/$name" ]; then mv -f "$previous/$name" "$name"
    elif [ -e "$previous/$name.absent" ]; then rm -f "$name"
    fi
  done <.berth/files
  [ ! -f .berth/gone ] || while IFS= read -r name; do
    [ ! -f "$previous/$name" ] || mv -f "$previous/$name" "./$name"
  done <.berth/gone
  # An empty note says that there was none.
  if [ -s .berth/stack.before ]; then mv -f .berth/stack.before .berth/stack
  elif [ -e .berth/stack.before ]; then rm -f .berth/stack .berth/stack.before
  fi
}
# remount kept|made: recreates the containers of services with a changed mounted file, of those that were there before
# (kept) or that were made since (made). A container sees the file that it was created with, also when another one has
# taken its name.
remount() {
  [ -s .berth/remount ] || return 0
  as_root docker ps -a --no-trunc --filter "label=com.docker.compose.project.working_dir=$(pwd -P)" \
    --format '{{.ID}} {{.Label "com.docker.compose.service"}} {{.Label "com.docker.compose.oneoff"}}' </dev/null |
    awk '$3 != "True" { print $1, $2 }' >.berth/remounted || return 1
  which=$1
  set --
  while IFS= read -r service; do
    if awk -v service="$service" -v which="$which" '
      FILENAME == ARGV[1] { old[$1] = 1; next }
      $2 == service && (($1 in old) == (which == "kept")) { found = 1 }
      END { exit !found }' .berth/old .berth/remounted; then set -- "$@" "$service"
    fi
  done <.berth/remount
  rm -f .berth/remounted
  [ "$#" -eq 0 ] || compose_stack "$compose_file" up -d --no-deps --force-recreate "$@" </dev/null
}
# Removes temporary names of images, including those of incoming ones. An image that is still used keeps the name until
# the end of the next activation.
let_go() {
  [ "$store" = containerd ] || return 0
  # shellcheck disable=SC2086 # A list of names without spaces.
  if [ -z "$incoming" ] || docker_quietly rmi $incoming; then rm -f .berth/loading; fi
  held=$(docker_images --format '{{.Repository}}:{{.Tag}}' | grep "^$(kept_prefix)")
  # shellcheck disable=SC2086 # A list of names without spaces.
  [ -z "$held" ] || docker_quietly rmi $held
}
# Removes one-off containers of an interrupted deploy.
remove_hooks() {
  hooks_left=$(as_root docker ps -aq --filter "label=berth.hook=$(pwd -P)" 2>/dev/null </dev/null)
  # shellcheck disable=SC2086 # A list of ids.
  [ -z "$hooks_left" ] || docker_quietly rm -fv $hooks_left
}
# Restores the previous version. Fails if it does not start again; `again` has the reason.
put_back() {
  [ ! -e .berth/hook ] || remove_hooks
  if [ -s .berth/running ]; then
    restore_files
    restore_names .berth/names
    restore_names .berth/running
    restore_containers
    compose_file=$(stack_file "$compose_file")
    again=$(compose_stack "$compose_file" up -d 2>&1 </dev/null) && again=$(remount made 2>&1)
    return
  fi
  # Leave nothing running if nothing ran before; keep the volumes.
  if [ -z "$old" ]; then compose_stack "$compose_file" down </dev/null >/dev/null 2>&1
  else compose_stack "$compose_file" stop </dev/null >/dev/null 2>&1
  fi
  restore_files
  restore_names .berth/names
  return 0
}
