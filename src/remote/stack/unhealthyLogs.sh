#!/bin/sh
# unhealthyLogs.sh DIRECTORY LINES ID…: prints the last lines of each container's log: a `container` line with its id,
# then the log lines as `line` lines. Masks values from the env files of the directory.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")" || exit 1
count=$2
shift 2
for id do
  printf 'container\t%s\n' "$id"
  as_root docker logs --tail "$count" "$id" 2>&1 </dev/null | tail -n "$count" | tail -c 20000 | LC_ALL=C awk '
    BEGIN {
      while ((getline name < ".berth/deployed") > 0) while ((getline value < ("./" name)) > 0) {
        sub(/\r$/, "", value)
        if (value ~ /^[ \t]*#/ || !sub(/^[^=]*=/, "", value)) continue
        gsub(/^[ \t]+|[ \t]+$/, "", value)
        if (value ~ /^".*"$/ || value ~ /^\047.*\047$/) value = substr(value, 2, length(value) - 2)
        # Shorter values occur in many words.
        if (length(value) >= 6) values[++count] = value
      }
      # Longest first, because a value may contain another.
      for (i = 2; i <= count; i++) for (j = i; j > 1 && length(values[j]) > length(values[j - 1]); j--) {
        value = values[j]
        values[j] = values[j - 1]
        values[j - 1] = value
      }
    }
    {
      line = $0
      for (i = 1; i <= count; i++) {
        shown = ""
        while ((at = index(line, values[i])) > 0) {
          shown = shown substr(line, 1, at - 1) "***"
          line = substr(line, at + length(values[i]))
        }
        line = shown line
      }
      print "line\t" substr(line, 1, 1000)
    }'
done
exit 0
