# shellcheck shell=sh
# take_lock -s|-x SECONDS: waits up to SECONDS for the lock of proxy files. All editors on a server lock its root
# directory: every user can open it, but not replace, forge or leave it behind. The process owns the lock and releases
# it on exit. Writing output while waiting detects a disconnected caller. A server without flock (macOS) works without
# the lock: the file is compared right before it is written.
take_lock() {
  command -v flock >/dev/null 2>&1 || return 0
  exec 9</
  give_up=$(($(date +%s) + $2))
  until flock -n "$1" 9; do
    [ "$(date +%s)" -lt "$give_up" ] || return 1
    printf ' ' >&2
    sleep 0.1 2>/dev/null || sleep 1
  done
}
