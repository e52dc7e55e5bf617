# shellcheck shell=sh
# The archive's names that meant nothing before the load mean nothing after it has failed.
forget_names() {
  for name in $subjects; do
    cut -d ' ' -f 2 .berth/names | grep -qxF "$name" || as_root docker rmi "$name" </dev/null >/dev/null 2>&1
  done
}
# failed STEP RESTORED: tells that, and whether anything was running before; the words of the server follow. They are in a
# file too, for whoever comes back later, where there is room for one.
failed() {
  before=nothing
  [ ! -s .berth/running ] || before=running
  printf 'failed\t%s\t%s\t%s\n' "$1" "$2" "$before"
  printf '%s\n' "$said" | tail -c 6000
  (umask 077; printf '%s\n' "$said" | tail -c 6000 >.berth/said) 2>/dev/null
  # Where that was to bring the release before a deploy back, the deploy stays.
  came_to "$(printf '%s\t%s\t%s\t%s' "$([ -z "$(about again)" ] && echo failed || echo stays)" "$1" "$2" "$before")"
  rm -rf "$staged" "$previous"
  let_go
  exit 1
}
