# shellcheck shell=sh
# Reports what a command writes while it runs, on what is the script's own output.
exec 5>&1
# Limit of a command's reported output, in characters with 50 for each line: a slow reader must not block the
# command.
most_reported=100000
report_lines() {
  room=$most_reported
  while IFS= read -r line || [ -n "$line" ]; do
    printf '%s\n' "$line"
    [ "$room" -gt 0 ] || continue
    room=$((room - ${#line} - 50))
    [ "$room" -gt 0 ] || line='(more than this is not told)'
    printf '%s\t%s\n' "$1" "$line" >&5
  done 2>/dev/null
}
# report LABEL COMMAND…: runs a command and reports each line that it writes, behind LABEL. Prints all that it has written when
# it has ended, and ends with its code.
report() {
  label=$1
  shift
  { { { { "$@" 2>&1 3>&- 4>&- 5>&-; echo "$?" >&3; } | report_lines "$label" >&4 3>&-; } 3>&1; } | { read -r code; exit "${code:-1}"; }; } 4>&1
}
