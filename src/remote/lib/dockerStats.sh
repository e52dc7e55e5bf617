# shellcheck shell=sh
# docker_stats TRIES LIMIT LIST FIGURES: measures the current usage of running containers in at most TRIES attempts.
# Sets `list` to a line of LIST for each, at most LIMIT, beginning with its id, and `said` to `usage` lines of FIGURES.
# Fails with Docker's message.
docker_stats() {
  list='' said='' left=$1
  while [ "$left" -gt 0 ]; do
    left=$((left - 1))
    list=$(as_root docker ps --no-trunc --format "$3" </dev/null) || return 1
    [ -n "$list" ] || return 0
    list=$(printf '%s\n' "$list" | head -n "$2")
    # One measurement of all containers takes Docker a second or two, and fails if a container is removed meanwhile.
    # shellcheck disable=SC2046 # one word an id
    said=$(as_root docker stats --no-stream --no-trunc --format "usage|$4" $(printf '%s\n' "$list" | cut -d '|' -f 1) 2>&1 </dev/null) && return 0
  done
  printf '%s\n' "$said" >&2
  return 1
}
