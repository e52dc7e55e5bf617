#!/bin/sh
# containerLogs.sh NAME LINES SINCE TIMESTAMPS [UNTIL [CONTAINS]]: the last LINES lines of a container's log, none from before
# SINCE or after UNTIL (each empty, a time, or - and how many seconds ago), with their times where TIMESTAMPS is yes; where
# CONTAINS is not empty, the last 10,000 lines that may contain it, in letters of either case. The inner shell puts both
# streams of the container into one, in the order they were written, and leaves what sudo itself says apart.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/parseTime.sh"
containerLogs=$(cat "$(dirname "$0")/subprocesses/containerLogs.sh")
as_root sh -c "$containerLogs" sh "$1" "$2" "$(parse_time "$3")" "$4" "$(parse_time "${5:-}")" "${6:-}" </dev/null
