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
load() {
  case $source in
    none) return 0 ;;
    file) as_root docker load <"$staged/$archive" || return 1 ;;
    part | whole) as_root docker load || return 1 ;;
    names)
      for id in $ids; do
        [ "$id" = "$1" ] || grep -qxF "$id $1" .berth/names || as_root docker tag "$id" "$1" </dev/null || return 1
        shift
      done ;;
  esac
  [ -n "$subjects" ] || return 0
  # What is loaded has to be what the archive says.
  # shellcheck disable=SC2086 # A list of names without spaces.
  is=$(as_root docker image inspect --format "$format" $subjects </dev/null) || return 1
  [ "$(printf '%s\n' "$is" | sha256sum | cut -c 1-64)" != "$expected" ] || return 0
  echo "what was loaded as $subjects is not the image of the archive:"
  printf '%s\n' "$is"
  return 1
}
noted() {
  [ -z "$inspecting" ] || wait "$inspecting" || { said="what runs now could not be noted in .berth"; return 1; }
}
printf 'step\tload\n'
if ! said=$(told loaded load "$@") || ! noted; then
  wait
  restore_names .berth/names
  forget_names
  # The whole archive may be sent next: what came before it is still wanted then.
  case $source in
    part | names)
      rm -rf .berth/incoming
      mv "$staged" .berth/incoming
      # Unless whoever would send it has gone: nobody holds the lock, and nobody would clear it away.
      ! flock -n .berth/lock true 2>/dev/null || rm -rf .berth/incoming ;;
  esac
  failed load yes
fi
# Containerd has ids of its own. Which of them the archive's images have is noted, so that they need not be sent again.
note_ids() {
  # shellcheck disable=SC2086 # Lists of names and ids without spaces.
  is=$(as_root docker image inspect --format '{{.Id}}' $subjects </dev/null) || return 1
  # shellcheck disable=SC2086
  set -- $is
  for id in $ids; do
    printf '%s %s\n' "$id" "$1"
    shift
  done
}
case $store:$source in
  containerd:names | containerd:none) ;;
  containerd:*) [ -z "$subjects" ] || note_ids >.berth/loaded 2>/dev/null ;;
esac
