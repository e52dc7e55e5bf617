// Generated from endExec.sh by "npm run scripts".
export const script = `endExec='marked() { LC_ALL=C grep -lsF "BERTH_EXEC=$1" /proc/[0-9]*/environ 2>/dev/null | tr -dc '\\''0-9\\n'\\''; }
processes=$(marked "$1")
[ -n "$processes" ] || exit 0
kill -HUP $processes 2>/dev/null
sleep 1
processes=$(marked "$1")
[ -z "$processes" ] || kill -KILL $processes 2>/dev/null
exit 0'
as_root sh -c "$endExec" sh "$1" </dev/null
`
