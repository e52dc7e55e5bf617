# shellcheck shell=sh
# Functions that restore the previous state from the records of prepare.sh.
restore_names() {
  while read -r id name _; do as_root docker tag "$id" "$name" </dev/null >/dev/null 2>&1; done <"$1"
}
# docker-compose 1.x renames a container before it creates the next one, and does not rename it back on failure.
restore_containers() {
  while read -r _ _ id name; do
    is=$(as_root docker inspect --type container --format '{{.Name}}' "$id" 2>/dev/null </dev/null) || continue
    [ "$is" != "$name" ] || continue
    as_root docker rm -f "${name#/}" </dev/null >/dev/null 2>&1
    as_root docker rename "$id" "${name#/}" </dev/null >/dev/null 2>&1
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
}
# Removes temporary names of images, including those of incoming ones. An image that is still used keeps the name until
# the end of the next activation.
let_go() {
  [ "$store" = containerd ] || return 0
  # shellcheck disable=SC2086 # A list of names without spaces.
  if [ -z "$incoming" ] || as_root docker rmi $incoming >/dev/null 2>&1 </dev/null; then rm -f .berth/loading; fi
  held=$(docker_images --format '{{.Repository}}:{{.Tag}}' | grep "^$(kept_prefix)")
  # shellcheck disable=SC2086 # A list of names without spaces.
  [ -z "$held" ] || as_root docker rmi $held >/dev/null 2>&1 </dev/null
}
any_compose_file() {
  for name in "$@" compose.yml compose.yaml docker-compose.yml docker-compose.yaml; do
    if [ -f "$name" ]; then printf '%s\n' "$name"; return; fi
  done
}
# Removes one-off containers of an interrupted deploy.
remove_hooks() {
  hooks_left=$(as_root docker ps -aq --filter "label=berth.hook=$(pwd -P)" 2>/dev/null </dev/null)
  # shellcheck disable=SC2086 # A list of ids.
  [ -z "$hooks_left" ] || as_root docker rm -fv $hooks_left >/dev/null 2>&1 </dev/null
}
# Restores the previous version. Fails if it does not start again; `again` has the reason.
put_back() {
  [ ! -e .berth/hook ] || remove_hooks
  if [ -s .berth/running ]; then
    restore_files
    restore_names .berth/names
    restore_names .berth/running
    restore_containers
    again=$(compose -f "$(any_compose_file "$compose_file")" up -d 2>&1 </dev/null)
    return
  fi
  # Leave nothing running if nothing ran before; keep the volumes.
  if [ -z "$old" ]; then compose -f "$compose_file" down </dev/null >/dev/null 2>&1
  else compose -f "$compose_file" stop </dev/null >/dev/null 2>&1
  fi
  restore_files
  restore_names .berth/names
  return 0
}
