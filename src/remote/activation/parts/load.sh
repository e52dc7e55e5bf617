# shellcheck shell=sh
# Loads the image, or puts back what its names meant and says why not.
# What is left of the arguments are ids and then as many names, which the archive gives to them.
ids=
count=$(($# / 2))
while [ "$count" -gt 0 ]; do
  ids="$ids $1"
  shift
  count=$((count - 1))
done
subjects=$*
# The run's own names of incoming images, one for each of their ids.
# shellcheck disable=SC2086 # A list of ids.
incoming=$([ "$source" != incoming ] || printf '%s\n' $ids | awk -v prefix="$(incoming_prefix "$run")" '!seen[$0]++ { number++; print prefix number }')
# docker_load OPTIONS: containerd's store answers 0 where it could not unpack what it has loaded.
docker_load() {
  if [ "$store" != containerd ]; then as_root docker load; return; fi
  heard=$(as_root docker load "$@" 2>&1)
  code=$?
  printf '%s\n' "$heard"
  case $heard in *"rror unpacking"*) return 1 ;; esac
  return "$code"
}
# is_expected NAMES: what is loaded has to be what the archive says.
is_expected() {
  # shellcheck disable=SC2086 # A list of names without spaces.
  is=$(as_root docker image inspect --format "$format" $1 </dev/null) || return 1
  [ "$(printf '%s\n' "$is" | sha256sum | cut -c 1-64)" != "$expected" ] || return 0
  echo "what was loaded as $1 is not the image of the archive:"
  printf '%s\n' "$is"
  return 1
}
# Docker 25 and 26 list only images that lack nothing.
is_listed() {
  for name in $incoming; do
    [ -n "$(docker_images -q "$name")" ] || { echo "the server lacks layers of $name"; return 1; }
  done
}
give_names() {
  for id in $ids; do
    [ "$id" = "$1" ] || grep -qxF "$id $1" .berth/names || as_root docker tag "$id" "$1" </dev/null || return 1
    shift
  done
}
load() {
  case $source in
    none) return 0 ;;
    file) docker_load <"$staged/$archive" || return 1 ;;
    part | whole) docker_load || return 1 ;;
    incoming)
      docker_load ${platform:+--platform "$platform"} && is_expected "$incoming" && is_listed && give_names "$@"
      return ;;
    names) give_names "$@" || return 1 ;;
  esac
  [ -z "$subjects" ] || is_expected "$subjects"
}
noted() {
  [ -z "$inspecting" ] || wait "$inspecting" || { said="what runs now could not be noted in .berth"; return 1; }
}
printf 'step\tload\n'
if ! said=$(report loaded load "$@") || ! noted; then
  wait
  restore_names .berth/names
  forget_names
  # Another attempt may follow, with the same files. Unless the sender is gone: nobody holds the lock then, and nobody
  # would remove them.
  rm -rf .berth/incoming
  mv "$staged" .berth/incoming
  ! flock -n .berth/lock true 2>/dev/null || rm -rf .berth/incoming
  failed load yes
fi
