#!/bin/sh
# inspect.sh ID…: prints the current state of these containers.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/inspect.sh"
inspect "$@"
exit 0
