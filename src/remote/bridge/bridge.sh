#!/bin/sh
# bridge.sh DIRECTORY RUN ACTION [SERVER HOSTS FILE SETTLE]: performs one action on the bridges of a run, which are
# recorded in .berth/bridge.
# switch  records the proxy file that will be edited, and makes the bridges survive a reboot; SETTLE is the time in
# seconds in which the proxy reloads that file if it is on this server, else empty
# go      lets the waiting activation go on: one that waits for a backup, or for its bridges
# stop    makes the activation undo everything
# read    waits until no activation of the directory is running, and prints the note of any run
# show    prints the current note
# remove  stops the bridges, each within its own grace period, and removes them and the note
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
restore_routes=$(cat "$(dirname "$0")/../lib/proxyLock.sh" "$(dirname "$0")/parts/restoreRoutes.sh")
cd "$(path_of "$1")" 2>/dev/null || exit 0
tab=$(printf '\t')
is_noted() { grep -qxF "run$tab$1" .berth/bridge 2>/dev/null; }
names() { awk -F '\t' '$1 == "bridge" && !seen[$3]++ { print $3 }' .berth/bridge; }
is_waiting() { is_noted "$1" || [ "$(cat .berth/waiting 2>/dev/null)" = "$1" ]; }
lost() { echo "the server has taken the bridge back" >&2; exit 1; }
case $3 in
  switch)
    is_noted "$2" && [ -e .berth/waiting ] || lost
    (umask 077; printf '%s\n' "$restore_routes" | cat >.berth/leadBack.sh) || exit 1
    [ -z "$7" ] || printf 'here\t%s\n' "$7" >>.berth/bridge || exit 1
    printf 'proxy\t%s\t%s\t%s\n' "$4" "$5" "$6" >>.berth/bridge || exit 1
    # shellcheck disable=SC2046 # A list of names.
    as_root docker update --restart unless-stopped $(names) >/dev/null </dev/null ;;
  go)
    is_waiting "$2" && mv .berth/waiting .berth/go 2>/dev/null || lost ;;
  stop)
    [ ! -d .berth ] || printf '%s\n' "$2" 2>/dev/null >.berth/stop || {
      # On a full disk the file cannot be written, and the activation would wait as long as its caller waits for it.
      is_waiting "$2" && rm -f .berth/stop .berth/waiting
    } ;;
  read)
    if [ -e .berth/activation ]; then
      exec 8<.berth/activation
      flock -w 300 8 || { echo "the deploy to this directory has not ended" >&2; exit 1; }
      # The activation to be stopped has ended by itself.
      [ "$(cat .berth/stop 2>/dev/null)" != "$(cut -f 1 .berth/outcome 2>/dev/null)" ] || rm -f .berth/stop
    fi
    [ ! -f .berth/bridge ] || cat .berth/bridge ;;
  show) [ ! -f .berth/bridge ] || cat .berth/bridge ;;
  remove)
    is_noted "$2" || exit 0
    for name in $(names); do
      as_root docker inspect --type container "$name" >/dev/null 2>&1 </dev/null || continue
      as_root docker stop "$name" >/dev/null 2>&1 </dev/null
      as_root docker rm -fv "$name" >/dev/null </dev/null || exit 1
    done
    rm -f .berth/bridge .berth/leadBack.sh ;;
esac
