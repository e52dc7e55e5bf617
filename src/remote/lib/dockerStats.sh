# shellcheck shell=sh
# docker_stats TRIES LIMIT LIST FIGURES: what running containers use now. Leaves in `list` a line of LIST for each of them,
# LIMIT at most, which begins with its id, and in `said` a `usage` line of FIGURES. Fails with Docker's words.
docker_stats() {
  list='' said='' left=$1
  while [ "$left" -gt 0 ]; do
    left=$((left - 1))
    list=$(as_root docker ps --no-trunc --format "$3" </dev/null) || return 1
    [ -n "$list" ] || return 0
    list=$(printf '%s\n' "$list" | head -n "$2")
    # One look takes Docker a second or two, for all containers together, and fails when one of them is removed meanwhile.
    # shellcheck disable=SC2046 # one word an id
    said=$(as_root docker stats --no-stream --no-trunc --format "usage|$4" $(printf '%s\n' "$list" | cut -d '|' -f 1) 2>&1 </dev/null) && return 0
  done
  printf '%s\n' "$said" >&2
  return 1
}
