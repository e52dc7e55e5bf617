#!/bin/sh
# configHashes.sh DIRECTORY PROJECT FILES FILE… [PROFILE…]: prints a `hash` line with its name and the hash of its
# definition for each service, as docker-compose 1.x would label its container now, from as many FILES and with the
# profiles. Prints nothing on Compose 2, whose hash is not always its label.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
cd "$(path_of "$1")" || exit 1
project=$2
files=$3
shift 3
find_compose
[ "$compose_kind" = v1 ] || exit 0
own=$#
while [ "$own" -gt 0 ]; do
  word=$1
  shift
  if [ "$files" -gt 0 ]; then set -- "$@" -f "$word"; else set -- "$@" --profile "$word"; fi
  files=$((files - 1))
  own=$((own - 1))
done
compose "$@" -p "$project" config --hash '*' 2>/dev/null </dev/null | sed "s/^/hash$(printf '\t')/"
exit 0
