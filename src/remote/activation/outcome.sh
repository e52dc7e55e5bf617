#!/bin/sh
# outcome.sh DIRECTORY: waits until no activation of the directory is running, and prints the outcome of the last one:
# `run`, its run, and one of these states:
# `begun`;
# `started` with its recorded release and the previous one (empty if there is none);
# `undone` if the release before a deploy is running again;
# `failed` with the step, whether the previous version is restored and what ran before;
# `stays` with the same fields if the release before a deploy could not be started again.
# Then follow `said` lines with the output of the failure, or its containers as printed by inspect.
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
