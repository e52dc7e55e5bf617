// Generated from proxyRead.sh by "npm run scripts".
export const script = `take_lock() {
command -v flock >/dev/null 2>&1 || return 0
exec 9</
give_up=$(($(date +%s) + $2))
until flock -n "$1" 9; do
[ "$(date +%s)" -lt "$give_up" ] || return 1
printf ' ' >&2
sleep 0.1 2>/dev/null || sleep 1
done
}
take_lock -s "$2" || exit 75
as_root cat "$1"
`
