# shellcheck shell=sh
# docker_quietly ARGS...: runs Docker for its exit code alone.
docker_quietly() { as_root docker "$@" </dev/null >/dev/null 2>&1; }
# name_ids NAME…: prints a line of id and name for each image name that exists.
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
# Prefix of temporary names that protect the images of this directory while their own names may change. Containerd's
# store drops an image as soon as its last name moves to another one, even if it is running.
kept_prefix() { printf 'berth/kept:%s-' "$(pwd -P | sha256sum | cut -c 1-12)"; }
# Prefix of the names by which releases of this directory keep their images.
prefix_here() { printf 'berth/release:%s-' "$(pwd -P | sha256sum | cut -c 1-12)"; }
# keep_images: gives such a name to each image whose id begins a line of stdin.
keep_images() {
  names_begin=$(kept_prefix)
  while read -r kept_id _; do
    [ -z "$kept_id" ] || docker_quietly tag "$kept_id" "$names_begin$(printf '%s' "${kept_id#sha256:}" | cut -c 1-12)"
  done
}
# Prefix of the temporary names under which a run loads images until they are proved to be complete; .berth/loading
# records the run.
incoming_prefix() { printf 'berth/incoming:%s-' "$1"; }
# forget_incoming: removes the images of an interrupted load. Docker 25 and 26 do not list incomplete images, so every
# possible name is tried; an archive has at most 100.
forget_incoming() {
  [ -s .berth/loading ] || return 0
  # shellcheck disable=SC2046 # A list of names without spaces.
  docker_quietly rmi $(awk -v prefix="$(incoming_prefix "$(cat .berth/loading)")" 'BEGIN { for (number = 1; number <= 100; number++) print prefix number }' </dev/null)
  rm -f .berth/loading
}
# docker_images OPTIONS: runs `docker image ls` with retries, because it fails on containerd's store while another
# image is being removed.
docker_images() {
  for pause in 0.1 0.3 1; do
    if listed_images=$(as_root docker image ls "$@" 2>/dev/null </dev/null); then
      [ -z "$listed_images" ] || printf '%s\n' "$listed_images"
      return 0
    fi
    sleep "$pause" 2>/dev/null || sleep 1
  done
  as_root docker image ls "$@" </dev/null
}
# list_images: prints a line of id and name for each image on the server, and finally ok.
list_images() { docker_images -a --no-trunc --format '{{.ID}} {{.Repository}}:{{.Tag}}' && echo ok; }
