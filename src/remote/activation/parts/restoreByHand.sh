# shellcheck shell=sh
# What restore.sh does in the directory of a stack, with the functions of the files beside it.
if [ "$#" -gt 0 ]; then cd "$(path_of "$1")" || exit 1
else cd "$(dirname "$0")/.." || exit 1
fi
trap '' HUP
previous=.berth/previous
[ -d "$previous" ] || [ -f .berth/bridge ] || { echo "$(pwd): no deploy was cut off here, so there is nothing to put back"; exit 0; }
exec 8>>.berth/activation || exit 1
flock -n 8 || { echo "$(pwd): a deploy is starting the stack right now; it puts back what fails by itself" >&2; exit 75; }
if [ -f .berth/bridge ] && [ -f .berth/lock ]; then
  flock -n .berth/lock true || { echo "$(pwd): a Berth is deploying here right now; it leads the requests back by itself" >&2; exit 75; }
fi
find_compose
[ "$compose_kind" != none ] || { echo "neither docker compose nor docker-compose answers; try again with sudo" >&2; exit 1; }
if [ -d "$previous" ]; then
  compose_file=$(stack_file compose.yml)
  if [ -s .berth/running ] || [ -n "$(ls -A "$previous")" ]; then put_back
  else
    restore_current
    restore_names .berth/names
  fi || { printf '%s\n' "$again" >&2; echo "$(pwd): the files are back, but the stack did not start" >&2; exit 1; }
  rm -rf .berth/staged .berth/context "$previous"
  rm -f .berth/waiting .berth/go .berth/stop .berth/hook
  store=containerd
  incoming=
  forget_incoming
  let_go
  echo "$(pwd): the previous version is back"
fi
# A bridge with requests has left this script to redirect them back.
# shellcheck source=/dev/null
if [ -f .berth/leadBack.sh ]; then . ./.berth/leadBack.sh
elif [ -f .berth/bridge ]; then
  # shellcheck disable=SC2046 # A list of names.
  docker_quietly rm -fv $(awk -F '\t' '$1 == "bridge" { print $3 }' .berth/bridge)
  rm -f .berth/bridge
fi
