#!/bin/sh
# outcome.sh DIRECTORY: waits until no activation of the directory is under way, and prints what became of the last one:
# `run`, the run that it was for, and `begun`, `started` with the release that it is kept as and the one that ran before
# (empty where there is none), `undone` where the release before a deploy runs again, `failed` with the step, whether what
# ran before is back and whether anything ran, or `stays` with the same where the release before a deploy was to run again;
# then `said` lines with the failure's output, or its containers as inspect prints them.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/inspect.sh"
cd "$(path_of "$1")" 2>/dev/null || exit 0
[ -f .berth/outcome ] || exit 0
exec 8<.berth/activation || exit 0
flock -w 300 8 || { echo "the deploy to this directory has not ended" >&2; exit 1; }
printf 'run\t'
cat .berth/outcome
[ ! -f .berth/said ] || sed "s/^/said$(printf '\t')/" .berth/said
[ -f .berth/containers ] || exit 0
# shellcheck disable=SC2046 # A list of ids.
inspect $(cat .berth/containers)
