# shellcheck shell=sh
# The archive's names that meant nothing before the load mean nothing after it has failed.
forget_names() {
  for name in $subjects; do
    cut -d ' ' -f 2 .berth/names | grep -qxF "$name" || as_root docker rmi "$name" </dev/null >/dev/null 2>&1
  done
}
# failed STEP RESTORED: prints that, and if anything ran before; the output follows. It is in a
# file too, for a later recovery, if there is room for one.
failed() {
  before=nothing
  [ ! -s .berth/running ] || before=running
  printf 'failed\t%s\t%s\t%s\n' "$1" "$2" "$before"
  printf '%s\n' "$said" | tail -c 6000
  (umask 077; printf '%s\n' "$said" | tail -c 6000 >.berth/said) 2>/dev/null
  # If this was to restore the release before a deploy, the deploy stays.
  came_to "$(printf '%s\t%s\t%s\t%s' "$([ -z "$(about again)" ] && echo failed || echo stays)" "$1" "$2" "$before")"
  rm -rf "$staged" "$previous"
  let_go
  exit 1
}
