# shellcheck shell=sh
# name_ids NAME…: a line of id and name for each image name that means something.
name_ids() {
  [ "$#" -gt 0 ] || return 0
  if ids=$(as_root docker image inspect --format '{{.Id}}' "$@" 2>/dev/null </dev/null); then
    for id in $ids; do printf '%s %s\n' "$id" "$1"; shift; done
    return 0
  fi
  [ "$#" -gt 1 ] || return 0
  for name do
    id=$(as_root docker image inspect --format '{{.Id}}' "$name" 2>/dev/null </dev/null) && printf '%s %s\n' "$id" "$name"
  done
  return 0
}
# list_images: a line of id and name for each image of the server, and ok after the last.
list_images() { as_root docker image ls -a --no-trunc --format '{{.ID}} {{.Repository}}:{{.Tag}}' </dev/null && echo ok; }
