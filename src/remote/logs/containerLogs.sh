#!/bin/sh
# containerLogs.sh NAME LINES SINCE TIMESTAMPS [UNTIL [CONTAINS]]: prints the last LINES lines of a container's log
# between SINCE and UNTIL (each empty, a time, or - and an age in seconds), with times if TIMESTAMPS is yes. If
# CONTAINS is not empty, prints the last 10,000 lines that may contain it, ignoring case.
# The inner shell merges both streams of the container in the order of writing, separate from messages of sudo.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/parseTime.sh"
containerLogs=$(cat "$(dirname "$0")/subprocesses/containerLogs.sh")
as_root sh -c "$containerLogs" sh "$1" "$2" "$(parse_time "$3")" "$4" "$(parse_time "${5:-}")" "${6:-}" </dev/null
