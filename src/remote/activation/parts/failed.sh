# shellcheck shell=sh
# Removes names of the archive that did not exist before a failed load.
forget_names() {
  for name in $subjects; do
    cut -d ' ' -f 2 .berth/names | grep -qxF "$name" || docker_quietly rmi "$name"
  done
}
# failed STEP RESTORED: prints these and what ran before (nothing, running, unknown), followed by the output. Also saves
# the output in a file for a later recovery, if there is room.
failed() {
  if [ -z "$before" ]; then
    before=nothing
    [ ! -s .berth/running ] || before=running
  fi
  printf 'failed\t%s\t%s\t%s\n' "$1" "$2" "$before"
  printf '%s\n' "$said" | tail -c 6000
  (umask 077; printf '%s\n' "$said" | tail -c 6000 >.berth/said) 2>/dev/null
  # If this activation was restoring the previous release, the deploy stays.
  came_to "$(printf '%s\t%s\t%s\t%s' "$([ -z "$(about again)" ] && echo failed || echo stays)" "$1" "$2" "$before")"
  rm -rf "$staged" "$previous"
  let_go
  exit 1
}
