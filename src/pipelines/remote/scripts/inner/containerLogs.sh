# shellcheck shell=sh
name=$1
timestamps=$4
set -- --tail "$2" ${3:+--since "$3"}
[ "$timestamps" != yes ] || set -- "$@" --timestamps
docker logs "$@" "$name" 2>&1
