#!/bin/sh
# followLogs.sh container NAME LINES SINCE, or followLogs.sh stack DIRECTORY LINES SINCE [SERVICE [UNTIL [CONTAINS
# [BYTES]]]]: prints `following`, or `none` if there is nothing to follow; then the last LINES lines, `live`, and every
# further line like `o|web|<time> text`: the stream (o or e), the service (web-2 if it has several containers), and the
# time of writing.
# SINCE and UNTIL are empty, a time, or - and an age in seconds; with an UNTIL in the past, it ends instead of printing
# `live`. If CONTAINS is not empty, the last lines are at most 10,000 that may contain it, ignoring case, and at most
# BYTES.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/parseTime.sh"
follow=$(cat "$(dirname "$0")/subprocesses/followLogs.sh")
target=$2
if [ "$1" = stack ]; then
  target=$(cd "$(path_of "$2")" 2>/dev/null && pwd -P) || { echo none; exit 0; }
fi
as_root sh -c "$follow" sh "$1" "$target" "$3" "$(parse_time "$4")" "${5:-}" "$(parse_time "${6:-}")" "${7:-}" "${8:-10485760}"
