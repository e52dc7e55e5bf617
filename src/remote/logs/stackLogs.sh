#!/bin/sh
# stackLogs.sh DIRECTORY LINES BYTES SINCE TIMESTAMPS [SERVICE [UNTIL [CONTAINS]]]: the last LINES lines of a stack's log, all its
# services together, at most BYTES; none from before SINCE or after UNTIL (each empty, a time, or - and how many seconds ago);
# with their times where TIMESTAMPS is yes; of SERVICE alone where it is not empty; where CONTAINS is not empty, the last
# 10,000 lines that may contain it, in letters of either case.
# Compose counts lines for each service and prints one service after the other. The lines are put in the order of their
# time stamps, the last ones of all are kept, and the time stamps go again. Both streams of each container are in its
# output. Its prefixes differ with its version (web_1, web-1, padded): each becomes that of a followed log, the service, and its
# container's number where it has several. Its own remarks have no time stamp, and the shell hands on its exit code through descriptor 3. Exits with 66 where
# the directory does not exist.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/parseTime.sh"
path=$(path_of "$1")
if ! cd "$path" 2>/dev/null; then
  why=$(LC_ALL=C ls -d "$path/." 2>&1)
  printf '%s\n' "$why" >&2
  case $why in *"No such file"* | *"Not a directory"*) exit 66 ;; esac
  exit 1
fi
find_compose
since=$(parse_time "$4")
until=$(parse_time "${7:-}")
contains=${8:-}
lines=$2
tail=$lines
if [ -n "$contains" ]; then lines=10000 tail=200000; fi
[ -z "$until" ] || tail=all
containing() {
  if [ -n "$contains" ]; then LC_ALL=C grep -aiF -e "$contains"; else cat; fi
}
stamps='s/^\([^|]*|\) [0-9-]*T[0-9:.]*Z/\1/'
[ "$5" != yes ] || stamps=
# PREFIX=LABEL for each form of prefix of each container.
labels=$(as_root docker ps -a --filter "label=com.docker.compose.project.working_dir=$(pwd -P)" --format \
  '{{.Names}}|{{.Label "com.docker.compose.project"}}|{{.Label "com.docker.compose.service"}}|{{.Label "com.docker.compose.container-number"}}|{{.Label "com.docker.compose.oneoff"}}' \
  </dev/null 2>/dev/null | LC_ALL=C awk -F '|' '
    $5 != "True" && $3 != "" { if (!(($3, $4) in seen)) count[$3]++; seen[$3, $4] = 1; line[NR] = $0 }
    END {
      for (at in line) {
        split(line[at], is, "|")
        label = is[3] (count[is[3]] > 1 ? "-" is[4] : "")
        sub(/,.*/, "", is[1])
        print is[1] "=" label
        print is[3] "_" is[4] "=" label
        print is[3] "-" is[4] "=" label
        if (index(is[1], is[2] "-") == 1) print substr(is[1], length(is[2]) + 2) "=" label
      }
    }' | tr '\n' ' ')
exec 4>&1
code=$({
  { compose logs --no-color --timestamps --tail "$tail" ${6:+"$6"} </dev/null 4>&-; echo "$?" >&3; } |
    LC_ALL=C sed -n '/^[^|]*| [0-9]\{4\}-[0-9-]*T[0-9:.]*Z/p' |
    LC_ALL=C awk -F '|' -v since="$since" -v until="$until" -v labels="$labels" '
      BEGIN { for (at = split(labels, all, " "); at > 0; at--) { split(all[at], is, "="); label[is[1]] = is[2] } }
      since != "" && substr($2, 2, length(since) - 1) < substr(since, 1, length(since) - 1) { next }
      until != "" && substr($2, 2, length(until) - 1) > substr(until, 1, length(until) - 1) { next }
      {
        prefix = $1
        sub(/ *$/, "", prefix)
        print (prefix in label ? label[prefix] : prefix) " " substr($0, index($0, "|"))
      }' |
    containing |
    LC_ALL=C sort -s -t '|' -k 2.1,2.32 |
    tail -n "$lines" |
    LC_ALL=C sed "$stamps" |
    tail -c "$3" >&4
} 3>&1)
exit "$code"
