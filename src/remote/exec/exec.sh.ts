// Generated from exec.sh by "npm run scripts".
export const script = `endExec='marked() { LC_ALL=C grep -lsF "BERTH_EXEC=$1" /proc/[0-9]*/environ 2>/dev/null | tr -dc '\\''0-9\\n'\\''; }
processes=$(marked "$1")
[ -n "$processes" ] || exit 0
kill -HUP $processes 2>/dev/null
sleep 1
processes=$(marked "$1")
[ -z "$processes" ] || kill -KILL $processes 2>/dev/null
exit 0'
container=$1
mark=$2
terminal=$3
shift 3
for word; do
shift
word=$(printf '%b_' "$word")
set -- "$@" "\${word%_}"
done
set -- --interactive --env "BERTH_EXEC=$mark" "$container" "$@"
[ -z "$terminal" ] || set -- --tty --env "TERM=$terminal" "$@"
broken=
trap 'broken=yes' HUP TERM
as_root docker exec "$@"
code=$?
[ -z "$broken" ] || as_root sh -c "$endExec" sh "$mark" </dev/null >/dev/null 2>&1
exit "$code"
`
