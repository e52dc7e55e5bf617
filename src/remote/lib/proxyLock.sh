# shellcheck shell=sh
# take_lock -s|-x SECONDS: waits that long for the lock of proxy files. Everybody who edits one on the server locks its root
# directory: every user can open it, and nobody can replace it, plant it or leave it behind. The lock is the
# process's, and goes with it. Writing while waiting detects that the caller is gone. A server without
# flock (macOS) goes without: what a file held is compared right before it is written.
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
