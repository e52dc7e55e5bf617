// Generated from bridge.sh by "npm run scripts".
export const script = `restore_routes='take_lock() {
command -v flock >/dev/null 2>&1 || return 0
exec 9</
give_up=$(($(date +%s) + $2))
until flock -n "$1" 9; do
[ "$(date +%s)" -lt "$give_up" ] || return 1
printf '\\'' '\\'' >&2
sleep 0.1 2>/dev/null || sleep 1
done
}
tab=$(printf '\\''\\t'\\'')
steps='\\''root=$1
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
exit 78'\\''
noted() { sed -n "s/^$1$tab//p" .berth/bridge 2>/dev/null; }
noted_bridges() { noted bridge | awk -F '\\''\\t'\\'' '\\''{ last[$2] = $2 "\\t" $3 "\\t" $4 } END { for (name in last) print last[name] }'\\''; }
ports_back() {
{ cat; echo x; } | LC_ALL=C awk -v list="$1" -v from="$2" -v to="$3" '\\''
function ending(text, at) { return at + length(text) }
function back(text, i, at, mark, rest, done, is_tls) {
for (i = 1; i <= hosts; i++) {
mark = "://" host[i] ":" from
rest = text
done = ""
while ((at = index(tolower(rest), mark)) > 0) {
if (substr(rest, ending(mark, at), 1) ~ /[0-9]/) done = done substr(rest, 1, ending(mark, at) - 1)
else {
is_tls = tolower(substr(rest, 1, at - 1)) ~ /https$/
done = done substr(rest, 1, at + 2 + length(host[i])) (to == (is_tls ? 443 : 80) ? "" : ":" to)
}
rest = substr(rest, ending(mark, at))
}
text = done rest
}
return text
}
function shortened(text, at, open, item, other, rest) {
for (at = 1; (open = index(substr(text, at), "{")) > 0; at = open + 1) {
open += at - 1
item = substr(text, open, index(substr(text, open), "}"))
other = back(item)
if (item == "" || other == item) continue
rest = substr(text, open + length(item))
if (substr(rest, 1, length(other) + 2) == ", " other) text = substr(text, 1, open - 1) substr(rest, 3)
else if (substr(text, open - length(other) - 2, length(other) + 2) == other ", ") text = substr(text, 1, open - 3) rest
}
return text
}
function content(text) { sub(/\\r$/, "", text); return text }
function repeats(first, count, by, i) {
for (i = first; i < first + count; i++) if (i < 1 || !((i + by) in line) || content(moved[i]) != content(line[i + by])) return 0
return 1
}
function leave_out(at, count, first, i) {
for (count = 1; count <= 12; count++) for (first = at - count + 1; first <= at; first++)
if (repeats(first, count, count) || repeats(first, count, -count)) {
for (i = first; i < first + count; i++) gone[i] = 1
return
}
}
{ line[NR] = $0 }
END {
hosts = split(list, host, ",")
sub(/x$/, "", line[NR])
for (i = 1; i <= NR; i++) {
line[i] = shortened(line[i])
moved[i] = back(line[i])
}
for (i = 1; i <= NR; i++) if (moved[i] != line[i] && !gone[i]) leave_out(i)
for (last = NR; gone[last]; last--) moved[last - 1] = content(moved[last - 1])
for (i = 1; i <= last; i++) if (!gone[i]) { printf "%s%s", separator, moved[i]; separator = "\\n" }
}'\\''
}
edit_back() {
for _ in 1 2 3; do
as_root cat "$1" >.berth/proxy-before && cp .berth/proxy-before .berth/proxy-after || { again="$1 cannot be read"; return 1; }
noted_bridges >.berth/proxy-bridges
while IFS="$tab" read -r _ port bridge_port; do
ports_back "$2" "$bridge_port" "$port" <.berth/proxy-after >.berth/proxy-next && mv .berth/proxy-next .berth/proxy-after || return 1
done <.berth/proxy-bridges
if cmp -s .berth/proxy-before .berth/proxy-after; then return 0; fi
again=$( (
take_lock -x 30 2>/dev/null || { echo "somebody else has been editing it for 30 s"; exit 75; }
as_root sh -c "$steps" sh "" "$1" "$(pwd)/.berth/proxy-before" "$(pwd)/.berth/proxy-after"
) 2>&1)
code=$?
[ "$code" != 73 ] || continue
[ "$code" = 0 ] && return 0
again="$1 cannot be written: $again"
return 1
done
again="somebody else keeps changing $1"
return 1
}
is_served() { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v port="$(printf '\\'':%04X'\\'' "$1")" '\\''$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 } END { exit !found }'\\''; }
all_served() {
noted_bridges | while IFS="$tab" read -r _ port _; do is_served "$port" || exit 1; done
}
tell_of_bridges() {
proxy=$(noted proxy | awk -F '\\''\\t'\\'' '\\''{ place = $3 " on " $1 } END { print place }'\\'')
noted_bridges | while IFS="$tab" read -r name port bridge_port; do
echo "$(pwd): $proxy may lead to port $bridge_port, the container $name, in place of port $port: deploy again, or edit that file and then run docker rm -f $name; rm .berth/bridge"
done
}
restore_routes() {
[ -f .berth/bridge ] || return 0
settle=$(noted here | tail -n 1)
if [ -n "$(noted proxy)" ]; then
[ -n "$settle" ] || { tell_of_bridges; return 0; }
all_served || compose_stack "$(stack_file compose.yml)" up -d >/dev/null 2>&1 </dev/null
all_served || { tell_of_bridges; echo "$(pwd): nothing listens on the port of the stack, so the requests were not led back" >&2; return 1; }
umask 077
edit_back "$(noted proxy | tail -n 1 | cut -f 3-)" "$(noted proxy | tail -n 1 | cut -f 2)"
edited=$?
rm -f .berth/proxy-before .berth/proxy-after .berth/proxy-next .berth/proxy-bridges
[ "$edited" = 0 ] || { tell_of_bridges; printf '\\''%s\\n'\\'' "$again" >&2; return 1; }
sleep "$settle"
fi
for name in $(noted_bridges | cut -f 1); do
as_root docker inspect --type container "$name" >/dev/null 2>&1 </dev/null || continue
as_root docker stop "$name" >/dev/null 2>&1 </dev/null
as_root docker rm -fv "$name" >/dev/null </dev/null || return 1
done
rm -f .berth/bridge .berth/leadBack.sh
echo "$(pwd): no requests go to a bridge any more"
}
restore_routes'
cd "$(path_of "$1")" 2>/dev/null || exit 0
tab=$(printf '\\t')
is_noted() { grep -qxF "run$tab$1" .berth/bridge 2>/dev/null; }
names() { awk -F '\\t' '$1 == "bridge" && !seen[$3]++ { print $3 }' .berth/bridge; }
is_waiting() { is_noted "$1" || [ "$(cat .berth/waiting 2>/dev/null)" = "$1" ]; }
lost() { echo "the server has taken the bridge back" >&2; exit 1; }
case $3 in
switch)
is_noted "$2" && [ -e .berth/waiting ] || lost
(umask 077; printf '%s\\n' "$restore_routes" | cat >.berth/leadBack.sh) || exit 1
[ -z "$7" ] || printf 'here\\t%s\\n' "$7" >>.berth/bridge || exit 1
printf 'proxy\\t%s\\t%s\\t%s\\n' "$4" "$5" "$6" >>.berth/bridge || exit 1
as_root docker update --restart unless-stopped $(names) >/dev/null </dev/null ;;
go)
is_waiting "$2" && mv .berth/waiting .berth/go 2>/dev/null || lost ;;
stop)
[ ! -d .berth ] || printf '%s\\n' "$2" 2>/dev/null >.berth/stop || {
is_waiting "$2" && rm -f .berth/stop .berth/waiting
} ;;
read)
if [ -e .berth/activation ]; then
exec 8<.berth/activation
flock -w 300 8 || { echo "the deploy to this directory has not ended" >&2; exit 1; }
[ "$(cat .berth/stop 2>/dev/null)" != "$(cut -f 1 .berth/outcome 2>/dev/null)" ] || rm -f .berth/stop
fi
[ ! -f .berth/bridge ] || cat .berth/bridge ;;
show) [ ! -f .berth/bridge ] || cat .berth/bridge ;;
remove)
is_noted "$2" || exit 0
for name in $(names); do
as_root docker inspect --type container "$name" >/dev/null 2>&1 </dev/null || continue
as_root docker stop "$name" >/dev/null 2>&1 </dev/null
as_root docker rm -fv "$name" >/dev/null </dev/null || exit 1
done
rm -f .berth/bridge .berth/leadBack.sh ;;
esac
`
