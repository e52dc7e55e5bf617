#!/bin/sh
# stackLogs.sh DIRECTORY LINES BYTES SINCE TIMESTAMPS [SERVICE [UNTIL [CONTAINS]]]: prints the last LINES lines of a
# stack's log, of all its services together, at most BYTES, between SINCE and UNTIL (each empty, a time, or - and an
# age in seconds); with times if TIMESTAMPS is yes; only of SERVICE if it is not empty. If CONTAINS is not empty,
# prints the last 10,000 lines that may contain it, ignoring case. Exits with 66 if the directory does not exist.
# Compose limits the lines of each service and prints the services one after the other. The lines are therefore sorted
# by time stamp and cut to the last ones, then the time stamps are removed. The output has both streams of each
# container.
# Prefixes depend on the version of compose (web_1, web-1, padded). Each is replaced by that of a followed log: the
# service, with the container's number if it has several. Messages of compose itself have no time stamp. Its exit code
# is passed through descriptor 3.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/parseTime.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
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
all=$(stack_places '{{.Label "com.docker.compose.project"}}	{{.Names}}	{{.Label "com.docker.compose.service"}}|{{.Label "com.docker.compose.container-number"}}|{{.Label "com.docker.compose.oneoff"}}' -a 2>/dev/null)
labels=$(printf '%s\n' "$all" | sed -n 's/^\.	\([^	]*\)	\([^	]*\)	/\2|\1|/p' |
  LC_ALL=C awk -F '|' '
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
# Compose prints the lines of another stack of the same name too.
only_known=
[ -z "$(foreign_of "$all")" ] || only_known=yes
exec 4>&1
code=$({
  { compose_stack "" logs --no-color --timestamps --tail "$tail" ${6:+"$6"} </dev/null 4>&-; echo "$?" >&3; } |
    LC_ALL=C sed -n '/^[^|]*| [0-9]\{4\}-[0-9-]*T[0-9:.]*Z/p' |
    LC_ALL=C awk -F '|' -v since="$since" -v until="$until" -v labels="$labels" -v known="$only_known" '
      BEGIN { for (at = split(labels, all, " "); at > 0; at--) { split(all[at], is, "="); label[is[1]] = is[2] } }
      since != "" && substr($2, 2, length(since) - 1) < substr(since, 1, length(since) - 1) { next }
      until != "" && substr($2, 2, length(until) - 1) > substr(until, 1, length(until) - 1) { next }
      {
        prefix = $1
        sub(/ *$/, "", prefix)
        if (known != "" && !(prefix in label)) next
        print (prefix in label ? label[prefix] : prefix) " " substr($0, index($0, "|"))
      }' |
    containing |
    LC_ALL=C sort -s -t '|' -k 2.1,2.32 |
    tail -n "$lines" |
    LC_ALL=C sed "$stamps" |
    tail -c "$3" >&4
} 3>&1)
exit "$code"
