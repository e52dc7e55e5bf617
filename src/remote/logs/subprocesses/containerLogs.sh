# shellcheck shell=sh
name=$1
lines=$2
since=$3
timestamps=$4
until=$5
contains=$6
set -- ${since:+--since "$since"} ${until:+--until "$until"}
[ "$timestamps" != yes ] || set -- "$@" --timestamps
if [ -z "$until$contains" ]; then
  docker logs "$@" --tail "$lines" "$name" 2>&1
  exit
fi
# Docker limits the number of lines before it filters them.
tail=200000
[ -z "$until" ] || tail=all
{ docker inspect --type container --format ok "$name" >/dev/null; } 2>&1 || exit 1
docker logs "$@" --tail "$tail" "$name" 2>&1 |
  if [ -n "$contains" ]; then LC_ALL=C grep -aiF -e "$contains" | tail -n 10000
  else tail -n "$lines"
  fi
