# shellcheck shell=sh
# Loads the image, or restores its names and reports the failure.
# The remaining arguments are ids, followed by as many names that the archive gives them.
ids=
count=$(($# / 2))
while [ "$count" -gt 0 ]; do
  ids="$ids $1"
  shift
  count=$((count - 1))
done
subjects=$*
# Temporary names of the run for incoming images, one for each id.
# shellcheck disable=SC2086 # A list of ids.
incoming=$([ "$source" != incoming ] || printf '%s\n' $ids | awk -v prefix="$(incoming_prefix "$run")" '!seen[$0]++ { number++; print prefix number }')
# docker_load OPTIONS: loads an image. Fails if unpacking failed, although containerd's store exits with 0 then.
docker_load() {
  if [ "$store" != containerd ]; then as_root docker load; return; fi
  heard=$(as_root docker load "$@" 2>&1)
  code=$?
  printf '%s\n' "$heard"
  case $heard in *"rror unpacking"*) return 1 ;; esac
  return "$code"
}
# is_expected NAMES: checks that the loaded images match the archive.
is_expected() {
  # shellcheck disable=SC2086 # A list of names without spaces.
  is=$(as_root docker image inspect --format "$format" $1 </dev/null) || return 1
  [ "$(printf '%s\n' "$is" | sha256sum | cut -c 1-64)" != "$expected" ] || return 0
  echo "what was loaded as $1 is not the image of the archive:"
  printf '%s\n' "$is"
  return 1
}
# Docker 25 and 26 only list complete images.
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
printf 'step\tload\n'
said=$(report loaded load "$@")
code=$?
if ! wait "$surveying"; then
  before=unknown
  surveyed=$(cat .berth/surveyed 2>/dev/null)
  [ "$code" -ne 0 ] || said="what runs now could not be noted in .berth${surveyed:+: $surveyed}"
  code=1
fi
if [ "$code" -ne 0 ]; then
  wait
  restore_names .berth/names
  forget_names
  # Keep the files for another attempt. If the sender is gone, its lock is free and nothing else would remove them.
  rm -rf .berth/incoming
  mv "$staged" .berth/incoming
  ! flock -n .berth/lock true 2>/dev/null || rm -rf .berth/incoming
  failed load yes
fi
