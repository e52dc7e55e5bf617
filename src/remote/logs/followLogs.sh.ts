// Generated from followLogs.sh by "npm run scripts".
export const script = `parse_time() {
case $1 in
-*) ago=$(($(date +%s) - \${1#-})) && date -u -d "@$ago" +%Y-%m-%dT%H:%M:%SZ ;;
*) printf '%s\\n' "$1" ;;
esac
}
follow='kind=$1
target=$2
lines=$3
since=$4
only=$5
until=$6
contains=$7
bytes=$8
now=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
case $now in *N*) now=$(date -u +%Y-%m-%dT%H:%M:%SZ) ;; esac
as_root() { "$@"; }
stack_places() {
stack_format="{{.Label \\"com.docker.compose.project.working_dir\\"}}	$1"
shift
stack_listed=$(as_root docker ps --no-trunc "$@" --format "$stack_format" </dev/null) || return 1
printf '\\''%s\\n'\\'' "$stack_listed" | while IFS= read -r stack_line; do
stack_place=\${stack_line%%	*}
case $stack_place in
/*) [ ! "$stack_place" -ef "\${stack_here:-.}" ] || stack_place=. ;;
*) stack_place= ;;
esac
printf '\\''%s\\t%s\\n'\\'' "$stack_place" "\${stack_line#*	}"
done
}
stack_ps() {
stack_all=$(stack_places "$@") || return 1
printf '\\''%s\\n'\\'' "$stack_all" | sed -n '\\''s/^\\.	//p'\\''
}
stack_names() {
if [ -n "\${1:-}" ]; then printf '\\''%s\\n'\\'' "$1"
else
stack_base=\${stack_here:-$PWD}
stack_base=\${stack_base%/}
printf '\\''%s\\n'\\'' "\${stack_base##*/}"
(cd "\${stack_here:-.}" 2>/dev/null && stack_base=$(pwd -P) && printf '\\''%s\\n'\\'' "\${stack_base##*/}")
fi | LC_ALL=C tr '\\''[:upper:]'\\'' '\\''[:lower:]'\\'' | LC_ALL=C sed -e '\\''s/[^a-z0-9_-]//g'\\'' -e p -e '\\''s/^[_-]*//'\\'' | LC_ALL=C sort -u
}
named_one_of() {
stack_is=$1 awk -F '\\''\\t'\\'' '\\''
BEGIN { for (at = split(ENVIRON["stack_is"], all, "\\n"); at > 0; at--) if (all[at] != "") is[all[at]] = 1 }
$1 in is { sub(/^[^\\t]*\\t/, ""); print }'\\''
}
foreign_among() {
stack_is=$1 awk -F '\\''\\t'\\'' '\\''
BEGIN { for (at = split(ENVIRON["stack_is"], all, "\\n"); at > 0; at--) if (all[at] != "") is[all[at]] = 1 }
$1 != "." && $1 != "" && $2 in is { print $1 "\\t" $3 "\\t" $2 }'\\''
}
stack_foreign() {
stack_all=$(stack_places "{{.Label \\"com.docker.compose.project\\"}}	{{.Names}}" -a) || return 1
foreign_of "$stack_all"
}
foreign_of() {
stack_all=$1
stack_is=$({ printf '\\''%s\\n'\\'' "$stack_all" | sed -n '\\''s/^\\.	\\([^	]*\\)	.*/\\1/p'\\''; sed -n '\\''s/^project	//p'\\'' .berth/stack 2>/dev/null; } | grep . || stack_names)
printf '\\''%s\\n'\\'' "$stack_all" | foreign_among "$stack_is"
}
[ "$kind" != stack ] || cd "$target" || exit 1
list() {
case $kind in
stack)
all=$(stack_ps '\\''{{.ID}}|{{.Label "com.docker.compose.oneoff"}}|{{.Label "com.docker.compose.service"}}'\\'' -a) || return 1
printf '\\''%s\\n'\\'' "$all" | awk -F '\\''|'\\'' -v only="$only" '\\''NF && $2 != "True" && (only == "" || $3 == only) { print $1 }'\\''
;;
*) docker inspect --type container --format '\\''{{.Id}}'\\'' "$target" </dev/null ;;
esac
}
service_of() {
is=$(docker inspect --type container --format '\\''{{index .Config.Labels "com.docker.compose.service"}}|{{.Name}}'\\'' "$1" 2>/dev/null </dev/null)
service=\${is%%|*}
name=\${is#*|/}
printf '\\''%s\\n'\\'' "\${service:-$name}" | tr -cd '\\''A-Za-z0-9._\\n-'\\''
}
numbered() {
[ "$kind" = stack ] || return 0
stack_ps '\\''{{.Label "com.docker.compose.oneoff"}}|{{.Label "com.docker.compose.service"}}|{{.Label "com.docker.compose.container-number"}}'\\'' -a |
awk -F '\\''|'\\'' '\\''$1 != "True" && !(($2, $3) in seen) { seen[$2, $3] = 1; if (++count[$2] == 2) print $2 }'\\''
}
label_of() {
service=$(service_of "$1")
if [ -n "$several" ] && printf '\\''%s\\n'\\'' "$several" | grep -qxF -e "$service"; then
number=$(docker inspect --type container --format '\\''{{index .Config.Labels "com.docker.compose.container-number"}}'\\'' "$1" 2>/dev/null </dev/null)
service=$service-$(printf '\\''%s'\\'' "$number" | tr -cd 0-9)
fi
printf '\\''%s\\n'\\'' "$service"
}
if command -v stdbuf >/dev/null 2>&1; then
marked() { stdbuf -oL sed "s/^/$1/"; }
elif sed -u '\\'''\\'' </dev/null 2>/dev/null; then
marked() { sed -u "s/^/$1/"; }
else
marked() { awk -v by="$1" '\\''{ print by $0; fflush() }'\\''; }
fi
both() {
by=$1
shift
{
{ docker logs --timestamps "$@" 2>&1 >&3 3>&- </dev/null | marked "e|$by|" >&4; } 3>&1 |
marked "o|$by|"
} 4>&1
}
if ! ids=$(list 2>/dev/null) || [ -z "$ids" ]; then
docker version >/dev/null || exit 1
echo none
exit 0
fi
echo following
several=$(numbered 2>/dev/null)
end=$now
tail=$lines
if [ -n "$contains" ]; then lines=10000 tail=200000; fi
past=no
if [ -n "$until" ]; then
if ! LC_ALL=C expr "\${until%%[.Z]*}" '\\''>'\\'' "\${now%%[.Z]*}" >/dev/null; then past=yes end=$until tail=all; fi
fi
containing() {
if [ -n "$contains" ]; then LC_ALL=C grep -aiF -e "$contains"; else cat; fi
}
latest() {
for id in $ids; do
if [ -n "$since" ]; then both "$(label_of "$id")" --tail "$tail" --since "$since" --until "$end" "$id"
else both "$(label_of "$id")" --tail "$tail" --until "$end" "$id"
fi
done | containing | LC_ALL=C sort -s -t '\\''|'\\'' -k 3.1,3.30 | tail -n "$lines" | tail -c "$bytes"
}
exec 5<&0
{
cat <&5 >/dev/null 2>&1
trap '\\'''\\'' TERM
kill 0
} &
watcher=$!
exec 5<&-
latest
if [ "$past" = yes ]; then
kill "$watcher" 2>/dev/null
exit 0
fi
echo live
follow() {
case $1 in "" | *[!0-9a-f]*) return ;; esac
marked_as=$(label_of "$1")
eval "follower=\\\${follower_$1:-}"
for wait in 0.1 0.2 0.3 0.4; do
if [ -z "$follower" ] || ! kill -0 "$follower" 2>/dev/null; then break; fi
sleep "$wait"
[ "$wait" != 0.4 ] || return
done
both "$marked_as" --follow --since "$2" "$1" &
eval "follower_$1=$!"
}
for id in $ids; do follow "$id" "$now"; done
case $kind in
stack) filter=label=com.docker.compose.project.working_dir ;;
*) filter=container=$target ;;
esac
docker events --since "$now" --filter type=container --filter event=start --filter "$filter" \\
--format '\\''{{.ID}} {{index .Actor.Attributes "com.docker.compose.project.working_dir"}}'\\'' </dev/null |
while read -r id place; do
[ "$kind" != stack ] || [ "$place" -ef . ] || continue
[ -z "$only" ] || [ "$(service_of "$id")" = "$only" ] || continue
ended=$(docker inspect --type container --format '\\''{{.State.FinishedAt}}'\\'' "$id" 2>/dev/null </dev/null)
case $ended in "" | 0001-*) ended=$now ;; esac
several=$(numbered 2>/dev/null)
follow "$id" "$ended"
done'
target=$2
if [ "$1" = stack ]; then
target=$(cd "$(path_of "$2")" 2>/dev/null && pwd -P) || { echo none; exit 0; }
fi
as_root sh -c "$follow" sh "$1" "$target" "$3" "$(parse_time "$4")" "\${5:-}" "$(parse_time "\${6:-}")" "\${7:-}" "\${8:-10485760}"
`
