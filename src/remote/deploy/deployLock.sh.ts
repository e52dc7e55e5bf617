// Generated from deployLock.sh by "npm run scripts".
export const script = `deploy_revision() { stat -c %y "$1" "$1/holder" 2>/dev/null | tr '\\n' ' '; }
path=$(path_of "$1")
made=
[ -e "$path" ] || made=yes
revision=
known=yes
[ -d "$path/.berth" ] || known=
command -v flock >/dev/null || { echo "flock is missing: install util-linux" >&2; exit 1; }
hang_up() {
case $(cat "/proc/$1/comm" 2>/dev/null) in sshd*) kill -KILL "$1" 2>/dev/null ;; esac
}
while :; do
mkdir -p "$path" && (umask 077; mkdir -p "$path/.berth") || exit 1
cd "$path/.berth" || exit 1
chmod o-rwx . 2>/dev/null || :
exec 9>>lock || exit 1
if ! flock -n 9; then
{ IFS= read -r holder; read -r connection process; } <holder
if [ -n "$3" ] && [ "$holder" = "$3" ]; then
hang_up "$connection"
kill -KILL "$process" 2>/dev/null
fi
[ -z "$holder" ] || printf '%s\\n' "$holder"
exit 75
fi
[ ! -e lock ] || break
done
if [ -e activation ]; then
exec 8<activation
flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
exec 8<&-
fi
[ -z "$known" ] || revision=$(deploy_revision .)
printf '%s\\n%s %s\\n' "$2" "$PPID" "$$" >holder
rm -rf incoming
told=
silent=
trap 'told=yes' HUP INT TERM
printf 'held\\t%s\\n' "$revision"
if command -v timeout >/dev/null; then
until [ -n "$told$silent" ]; do
heard=$(timeout 180 dd bs=256 count=1 2>/dev/null 9>&-) || silent=yes
[ -n "$heard" ] || break
done
else
cat >/dev/null 9>&-
fi
rm -rf incoming
remove_made() {
[ ! -s loading ] || return
[ ! -e activation ] || { exec 8<activation && flock -n 8; } || return
[ -z "$(cd "$path" && find . ! -type d ! -path './.berth/*' 2>&1 | head -n 1)" ] || return
mv "$path/.berth" "$path/.berth-$$" || return
rm -rf "$path/.berth-$$"
cd / || return
find "$path" -depth -type d ! -name .berth -exec rmdir {} \\; 2>/dev/null
}
if [ -z "$made" ] || ! remove_made; then
[ ! -e holder ] || : >holder
fi
exec 9>&-
[ -n "$told" ] || [ -z "$silent" ] || hang_up "$PPID"
`
