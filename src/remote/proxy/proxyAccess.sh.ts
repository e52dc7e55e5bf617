// Generated from proxyAccess.sh by "npm run scripts".
export const script = `as_root cat "$1" >/dev/null </dev/null || exit 3
[ "$(id -u)" != 0 ] && as_root -l tee "$1" >/dev/null 2>&1 </dev/null && exit 0
as_root tee -a "$1" >/dev/null </dev/null || exit 4
`
