#!/bin/sh
# exec.sh CONTAINER MARK TERM COMMAND…: runs a command in a container with this script's input, output and exit code,
# on its terminal if TERM is not empty. COMMAND has a backslash as `\\` and a line break as `\0012`. The environment of
# the started processes has MARK, so that they can be ended when the connection breaks; Docker itself would leave them
# running.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
endExec=$(cat "$(dirname "$0")/subprocesses/endExec.sh")
container=$1
mark=$2
terminal=$3
shift 3
for word; do
  shift
  word=$(printf '%b_' "$word")
  set -- "$@" "${word%_}"
done
set -- --interactive --env "BERTH_EXEC=$mark" "$container" "$@"
[ -z "$terminal" ] || set -- --tty --env "TERM=$terminal" "$@"
broken=
trap 'broken=yes' HUP TERM
as_root docker exec "$@"
code=$?
[ -z "$broken" ] || as_root sh -c "$endExec" sh "$mark" </dev/null >/dev/null 2>&1
exit "$code"
