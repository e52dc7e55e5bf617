#!/bin/sh
# guard.sh DIRECTORY: waits until the backup or restore in a directory has ended, however it ended, and starts what it
# has left stopped. Runs in a session of its own, so that it outlives the connection, Berth and the script that it
# guards; the lock .berth/stopping, which that script holds, shows its end. With sudo, the password is on stdin.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
. "$(dirname "$0")/parts/stopped.sh"
. "$(dirname "$0")/parts/swap.sh"
trap '' HUP INT PIPE TERM
# shellcheck disable=SC2034 # What calls sudo asks for it.
berth_ignores=yes
cd "$1" || exit 1
exec 6>>.berth/stopping || exit 1
flock 6
swap_back
[ -s .berth/stopped ] || exit 0
until start_stopped >/dev/null 2>&1; do
  attempts=$((${attempts:-0} + 1))
  [ "$attempts" -lt 20 ] || exit 1
  sleep 15
done
