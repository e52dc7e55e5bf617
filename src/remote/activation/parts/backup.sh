# shellcheck shell=sh
# With a `backup` line in the manifest, waits until the caller has kept the data (.berth/go), before anything is replaced.
# Undoes the load if the caller requests it (.berth/stop) or has disconnected, which its lock shows.
await_go() {
  looks=0
  while [ -e .berth/waiting ]; do
    if [ -e .berth/stop ] && [ "$(cat .berth/stop)" = "$run" ] && rm .berth/waiting 2>/dev/null; then
      said="it was taken back"
      return 1
    fi
    looks=$((looks + 1))
    if [ $((looks % 10)) = 0 ] && flock -n .berth/lock true 2>/dev/null && rm .berth/waiting 2>/dev/null; then
      said="nobody was waiting for it any more"
      return 1
    fi
    sleep 0.2 2>/dev/null || sleep 1
  done
  [ -e .berth/go ] || { said=".berth/waiting is gone"; return 1; }
}
# pause STEP: announces a step of the caller, and waits for its end.
pause() {
  said="so .berth/waiting could not be noted"
  printf '%s\n' "$run" >.berth/waiting || return 1
  printf 'step\t%s\n' "$1"
  await_go && rm -f .berth/go .berth/stop
}
if [ -n "$(about backup)" ]; then
  rm -f .berth/go
  pause backup || {
    rm -f .berth/waiting .berth/go .berth/stop
    note_brought 2>/dev/null
    restore_names .berth/names
    failed backup yes
  }
fi
