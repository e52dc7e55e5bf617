#!/bin/sh
# stackLogs.sh DIRECTORY LINES BYTES SINCE TIMESTAMPS [SERVICE]: the last LINES lines of a stack's log, all its services together, at
# most BYTES; none from before SINCE (empty, a time, or - and how many seconds ago); with their times where TIMESTAMPS is yes; of
# SERVICE alone where it is not empty.
# Compose counts lines for each service and prints one service after the other. The lines are put in the order of their
# time stamps, the last ones of all are kept, and the time stamps go again. Both streams of each container are in its
# output; its own remarks have no time stamp, and the shell hands on its exit code through descriptor 3. Exits with 66 where
# there is no such directory.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/lib/alone.sh"
. "$(dirname "$0")/lib/compose.sh"
. "$(dirname "$0")/lib/since.sh"
path=$(path_of "$1")
if ! cd "$path" 2>/dev/null; then
  why=$(LC_ALL=C ls -d "$path/." 2>&1)
  printf '%s\n' "$why" >&2
  case $why in *"No such file"* | *"Not a directory"*) exit 66 ;; esac
  exit 1
fi
find_compose
since=$(time_of "$4")
stamps='s/^\([^|]*|\) [0-9-]*T[0-9:.]*Z/\1/'
[ "$5" != yes ] || stamps=
exec 4>&1
code=$({
  { compose logs --no-color --timestamps --tail "$2" ${6:+"$6"} </dev/null 4>&-; echo "$?" >&3; } |
    LC_ALL=C sed -n '/^[^|]*| [0-9]\{4\}-[0-9-]*T[0-9:.]*Z/p' |
    LC_ALL=C awk -F '|' -v since="$since" 'since == "" || substr($2, 2, length(since) - 1) >= substr(since, 1, length(since) - 1)' |
    LC_ALL=C sort -s -t '|' -k 2.1,2.32 |
    tail -n "$2" |
    LC_ALL=C sed "$stamps" |
    tail -c "$3" >&4
} 3>&1)
exit "$code"
