#!/bin/sh
# stacks.sh: prints `home` lines with the user's home directory, and a `container` line for each container that compose
# made, wherever its stack lies: id, image, whether it runs, time of its creation, the image's name and its labels, as a
# list in JSON. Exits with 3 if Docker cannot be used.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
tab=$(printf '\t')
printf 'home\t%s\n' "$HOME"
real=$(cd 2>/dev/null && pwd -P) && printf 'home\t%s\n' "$real"
ids=$(as_root docker ps -aq --no-trunc </dev/null) || exit 3
# shellcheck disable=SC2086 # A list of ids.
[ -z "$ids" ] || as_root docker inspect --type container --format '[{{json .Id}},{{json .Image}},{{json .State.Running}},{{json .Created}},{{json .Config.Image}},{{json .Config.Labels}}]' $ids 2>/dev/null </dev/null |
  sed "s/^/container$tab/"
exit 0
