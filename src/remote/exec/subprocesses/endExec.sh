# shellcheck shell=sh
marked() { LC_ALL=C grep -lsF "BERTH_EXEC=$1" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n'; }
processes=$(marked "$1")
[ -n "$processes" ] || exit 0
# shellcheck disable=SC2086 # A list of ids.
kill -HUP $processes 2>/dev/null
sleep 1
processes=$(marked "$1")
# shellcheck disable=SC2086 # A list of ids.
[ -z "$processes" ] || kill -KILL $processes 2>/dev/null
exit 0
