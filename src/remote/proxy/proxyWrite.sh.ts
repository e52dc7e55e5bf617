// Generated from proxyWrite.sh by "npm run scripts".
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
steps='root=$1
file=$2
backup=$2.berth-bak
before=$3
after=$4
[ -r "$before" ] && [ -r "$after" ] || exit 1
holds() { $root cat "$1" | cmp -s - "$2"; }
put() { $root tee "$2" <"$1" >/dev/null; holds "$2" "$1"; }
umask 077
holds "$file" "$before" || exit 73
[ ! -L "$backup" ] || { echo "$backup is a link" >&2; exit 76; }
trap "" HUP INT TERM PIPE
put "$before" "$backup" || exit 76
put "$after" "$file" && exit 0
put "$before" "$file" && exit 77
exit 78'
before=$HOME/$2
after=$HOME/$3
end() {
rm -f "$before" "$after"
exit "$1"
}
command -v cmp >/dev/null 2>&1 || { echo "cmp is not installed (diffutils)" >&2; end 69; }
[ -r "$before" ] && [ -r "$after" ] || { echo "the staged copies are gone" >&2; end 69; }
take_lock -x "$4" || end 75
find "$HOME/." ! -name . -prune -name '.berth-proxy-*' -mtime +1 -exec rm -f {} + 2>/dev/null
trap '' HUP INT TERM PIPE
berth_ignores=yes
said=$(as_root sh -c "$steps" sh "" "$1" "$before" "$after" 2>&1 >/dev/null)
code=$?
if [ "$code" = 1 ]; then
(
set -- as_root "$1" "$before" "$after"
eval "$steps"
)
code=$?
else
printf '%s\\n' "$said" >&2
fi
end "$code"
`
