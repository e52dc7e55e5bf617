#!/bin/sh
# prune.sh: removes images, records of the build cache, and volumes, each only if it is still unused. Stdin has a line
# for each: `image` with its id and its planned names, `cache` with the id of a record, `volume` with a name; and `path`
# lines with the remote paths of known stacks.
# Holds the activations of all directories with releases meanwhile: a deploy that starts waits, and decides anew what
# the server has. Exits with 75 and the directory if a deploy is under way in one.
# Prints a `removed` line with the kind and the id of each, a `skipped` line with the reason for each that stays, and
# `freed` with the KiB by which the free space of Docker's disk grew. It runs to its end even if the connection is lost.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/usage.sh"
. "$(dirname "$0")/../lib/stackDirectories.sh"
tab=$(printf '\t')
input=$(cat)
lines_of() { printf '%s\n' "$input" | sed -n "s/^$1$tab//p"; }
root=$(as_root docker info --format '{{.DockerRootDir}}' </dev/null) || exit 3
command -v flock >/dev/null || { echo "flock is missing: install util-linux" >&2; exit 1; }
directories=$(lines_of path | berth_directories)
trap '' HUP PIPE TERM
# shellcheck disable=SC2034 # What calls sudo asks for it.
berth_ignores=yes
free_space() { [ ! -d "$root" ] || disk_of docker "$root" | sed -n "s/^disk$tab.*$tab\([0-9]*\)$tab\/.*/\1/p"; }
skip() { printf 'skipped\t%s\t%s\t%s\n' "$1" "$2" "$(printf '%s\n' "$3" | tail -n 1 | cut -c 1-300)"; }
# Lines of an image id and the release and directory that need it, read while no deploy can add one.
needed_images() {
  printf '%s\n' "$directories" | while IFS= read -r directory; do
    for note in "$directory"/.berth/releases/[0-9]*/note; do
      [ -f "$note" ] || continue
      release=${note%/note}
      release=${release##*/} directory=$directory awk -F '\t' '
        $1 == "image" { print $2 " release " ENVIRON["release"] " of " ENVIRON["directory"] " needs it" }' "$note"
    done
  done
}
prune_image() {
  id=$1 planned=$2
  tags=$(as_root docker image inspect --format '{{range .RepoTags}}{{.}} {{end}}' "$id" 2>/dev/null </dev/null) ||
    { skip image "$id" "it is no longer there"; return; }
  reason=$(printf '%s\n' "$needed" | sed -n "s/^$id //p" | head -n 1)
  [ -z "$reason" ] || { skip image "$id" "$reason"; return; }
  for tag in $tags; do
    case " $planned " in
      *" $tag "*) ;;
      *) skip image "$id" "it has been named $tag since"; return ;;
    esac
  done
  users=$(as_root docker ps -a --filter "ancestor=$id" --format '{{.Names}}' 2>&1 </dev/null) ||
    { skip image "$id" "its containers cannot be listed: $users"; return; }
  [ -z "$users" ] || { skip image "$id" "the container $(printf '%s\n' "$users" | head -n 1) uses it"; return; }
  # shellcheck disable=SC2086 # A list of names without spaces.
  said=$(as_root docker rmi ${tags:-"$id"} 2>&1 </dev/null) && said="another image was built on it"
  if as_root docker image inspect --format '{{.Id}}' "$id" >/dev/null 2>&1 </dev/null; then
    # It keeps its names: a container may have been started by one in between.
    for tag in $tags; do as_root docker tag "$id" "$tag" >/dev/null 2>&1 </dev/null; done
    skip image "$id" "$said"
  else printf 'removed\timage\t%s\n' "$id"
  fi
}
prune_cache() {
  if said=$(as_root docker builder prune -f --filter "id=$1" 2>&1 </dev/null); then
    case $said in
      *"$1"*) printf 'removed\tcache\t%s\n' "$1" ;;
      *) skip cache "$1" "it is in use, or no longer there" ;;
    esac
  else skip cache "$1" "$said"
  fi
}
prune_volume() {
  as_root docker volume inspect "$1" >/dev/null 2>&1 </dev/null || { skip volume "$1" "it is no longer there"; return; }
  users=$(as_root docker ps -a --filter "volume=$1" --format '{{.Names}}' 2>&1 </dev/null) ||
    { skip volume "$1" "its containers cannot be listed: $users"; return; }
  [ -z "$users" ] || { skip volume "$1" "the container $(printf '%s\n' "$users" | head -n 1) uses it"; return; }
  if said=$(as_root docker volume rm "$1" 2>&1 </dev/null); then printf 'removed\tvolume\t%s\n' "$1"
  else skip volume "$1" "$said"
  fi
}
prune_all() {
  needed=$(needed_images)
  before=$(free_space)
  lines_of image | while IFS="$tab" read -r id names; do prune_image "$id" "$names"; done
  lines_of cache | while IFS= read -r id; do prune_cache "$id"; done
  lines_of volume | while IFS= read -r name; do prune_volume "$name"; done
  after=$(free_space)
  [ -z "$before" ] || [ -z "$after" ] || printf 'freed\t%s\n' "$((after - before))"
  # A deploy that waits meanwhile sees another revision.
  printf '%s\n' "$directories" | while IFS= read -r directory; do
    [ ! -f "$directory/.berth/holder" ] || touch "$directory/.berth/holder" 2>/dev/null
  done
}
# hold DIRECTORY…: holds the activation of each, one subshell for each, then removes.
hold() {
  [ "$#" -gt 0 ] || { prune_all; return; }
  (
    held_in=$1
    shift
    if [ -w "$held_in/.berth" ] && { [ ! -e "$held_in/.berth/activation" ] || [ -w "$held_in/.berth/activation" ]; }; then
      exec 8>>"$held_in/.berth/activation"
      if ! flock -n 8 || { [ -e "$held_in/.berth/lock" ] && ! flock -n "$held_in/.berth/lock" true; }; then
        printf 'busy\t%s\n' "$held_in"
        exit 75
      fi
    fi
    hold "$@"
  )
}
set -f
IFS='
'
# shellcheck disable=SC2086 # One line a directory.
set -- $directories
set +f
unset IFS
hold "$@"
