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
  stack_all=$(stack_ps '{{.ID}} {{.Label "com.docker.compose.service"}} {{.Label "com.docker.compose.oneoff"}}' -a) || return 1
  printf '%s\n' "$stack_all" | awk 'NF > 1 && $3 != "True" { print $1, $2 }' >.berth/remounted || return 1
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
# Stops containers that the new version does not have, whose ports it may want.
stop_orphans() {
  # shellcheck disable=SC2046 # A list of ids.
  [ ! -s .berth/orphans ] || docker_quietly stop $(cut -f 1 .berth/orphans)
  return 0
}
# Starts those that ran: the version before may not have them either.
start_orphans() {
  [ -s .berth/orphans ] || return 0
  cut -f 1 .berth/orphans | while IFS= read -r id; do
    ! grep -qF -e " $id " .berth/running || docker_quietly start "$id"
  done
}
# Removes them once the new version runs, and prints an `orphan` line for each service. What compose has started is not
# one of them.
drop_orphans() {
  [ -f .berth/orphans ] || return 0
  while IFS='	' read -r id service; do
    [ "$(as_root docker inspect --type container --format '{{.State.Running}}' "$id" 2>/dev/null </dev/null)" = false ] || continue
    as_root docker rm "$id" </dev/null >/dev/null 2>&1 && printf 'orphan\t%s\n' "$service"
  done <.berth/orphans
  rm -f .berth/orphans
}
# Removes the containers that a start has made beside those that were there: of services that had none, or of another
# name. Then the networks that it has made, if nothing of that name is left.
remove_made() {
  [ -f .berth/owned ] || return 0
  stack_ps '{{.ID}}	{{.Label "com.docker.compose.project"}}	{{.Label "com.docker.compose.service"}}' -a >.berth/made || return 1
  made=$(awk -F '\t' '
    FILENAME == ARGV[1] { had[$2, $3] = 1; old[$1] = 1; next }
    !($1 in old) && !(($2, $3) in had) { print $1 }' .berth/owned .berth/made)
  names=$(cut -f 2 .berth/made | sort -u)
  rm -f .berth/made
  # shellcheck disable=SC2086 # A list of ids.
  [ -z "$made" ] || as_root docker rm -f $made </dev/null >/dev/null || return 1
  [ -f .berth/networks ] || return 0
  for name in $names; do
    [ -z "$(as_root docker ps -aq --filter "label=com.docker.compose.project=$name" </dev/null)" ] || continue
    for network in $(as_root docker network ls -q --no-trunc --filter "label=com.docker.compose.project=$name" </dev/null); do
      grep -qxF -e "$network" .berth/networks || docker_quietly network rm "$network"
    done
  done
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
  again=$(remove_made 2>&1) || return 1
  if [ -s .berth/running ]; then
    restore_files
    restore_names .berth/names
    restore_names .berth/running
    restore_containers
    compose_file=$(stack_file "$compose_file")
    # Twice: one of them may need a port that another one has until that is recreated.
    { again=$(compose_stack "$compose_file" up -d 2>&1 </dev/null) || again=$(compose_stack "$compose_file" up -d 2>&1 </dev/null); } &&
      again=$(remount made 2>&1)
    is_back=$?
    start_orphans
    return "$is_back"
  fi
  # Leave nothing running if nothing ran before; keep the volumes.
  # shellcheck disable=SC2046 # A list of ids.
  [ -z "$(stack_ps '{{.ID}}')" ] || as_root docker stop $(stack_ps '{{.ID}}') </dev/null >/dev/null 2>&1
  restore_files
  restore_names .berth/names
  return 0
}
