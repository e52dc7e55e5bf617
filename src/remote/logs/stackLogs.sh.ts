// Generated from stackLogs.sh by "npm run scripts".
export const script = `known_compose() { return 1; }
compose_program=
find_program() {
[ -z "$compose_program" ] || return 0
compose_program=docker-compose
[ "\${berth_user:-0}" != 0 ] || return 0
[ "$(as_root sh -c 'command -v docker-compose || echo none' 2>/dev/null </dev/null)" = none ] || return 0
for place in "$(command -v docker-compose)" /usr/local/bin/docker-compose "$HOME/.docker/cli-plugins/docker-compose"; do
if [ -x "$place" ]; then compose_program=$place; return; fi
done
}
find_compose() {
compose_kind=none
if compose_version=$(as_root docker compose version --short 2>/dev/null </dev/null) && [ -n "$compose_version" ]; then
compose_kind=v2
elif known_compose; then
compose_kind=v1
elif find_program && compose_version=$(as_root "$compose_program" version --short 2>/dev/null </dev/null) && [ -n "$compose_version" ]; then
case $compose_version in
1.*) compose_kind=v1 ;;
*) compose_kind=standalone ;;
esac
else
compose_version=
fi
}
compose() {
case $compose_kind in
v2) as_root docker compose "$@" ;;
v1 | standalone) find_program; as_root "$compose_program" "$@" ;;
*) echo "neither docker compose nor docker-compose is installed" >&2; return 127 ;;
esac
}
stack_file() {
stack_first=
[ ! -f .berth/stack ] || stack_first=$(sed -n "s/^compose$(printf '\\t')//p" .berth/stack | head -n 1)
for name in "$stack_first" "$@" compose.yml compose.yaml docker-compose.yml docker-compose.yaml; do
if [ -n "$name" ] && [ -f "$name" ]; then printf '%s\\n' "$name"; return; fi
done
}
stack_variables() {
if [ "$#" -eq 1 ]; then printf '%s\\n' "$1"; return; fi
(umask 077; for name do cat "./$name" && echo || exit 1; done >"\${stack_home:-.berth}/variables.new") &&
mv -f "\${stack_home:-.berth}/variables.new" "\${stack_home:-.berth}/variables" && printf '%s\\n' "\${stack_home:-.berth}/variables"
}
compose_stack() {
stack_only=$1
shift
stack_note=\${stack_home:-.berth}/stack
if [ ! -f "$stack_note" ] || [ ! -f "$(sed -n "s/^compose$(printf '\\t')//p" "$stack_note" | head -n 1)" ]; then
compose \${stack_only:+-f "$stack_only"} "$@"
return
fi
stack_own=$#
while IFS='	' read -r stack_key stack_value; do
case $stack_key in
compose) set -- "$@" -f "$stack_value" ;;
profile) set -- "$@" --profile "$stack_value" ;;
project) set -- "$@" -p "$stack_value" ;;
esac
done <"$stack_note"
stack_values=$(sed -n "s/^variables$(printf '\\t')//p" "$stack_note")
if [ -n "$stack_values" ]; then
stack_values=$(printf '%s\\n' "$stack_values" | { set --; while IFS= read -r name; do set -- "$@" "$name"; done; stack_variables "$@"; }) || return 1
set -- "$@" --env-file "$stack_values"
fi
while [ "$stack_own" -gt 0 ]; do
stack_value=$1
shift
set -- "$@" "$stack_value"
stack_own=$((stack_own - 1))
done
compose "$@"
}
parse_time() {
case $1 in
-*) ago=$(($(date +%s) - \${1#-})) && date -u -d "@$ago" +%Y-%m-%dT%H:%M:%SZ ;;
*) printf '%s\\n' "$1" ;;
esac
}
stack_places() {
stack_format="{{.Label \\"com.docker.compose.project.working_dir\\"}}	$1"
shift
stack_listed=$(as_root docker ps --no-trunc "$@" --format "$stack_format" </dev/null) || return 1
printf '%s\\n' "$stack_listed" | while IFS= read -r stack_line; do
stack_place=\${stack_line%%	*}
case $stack_place in
/*) [ ! "$stack_place" -ef "\${stack_here:-.}" ] || stack_place=. ;;
*) stack_place= ;;
esac
printf '%s\\t%s\\n' "$stack_place" "\${stack_line#*	}"
done
}
stack_ps() {
stack_all=$(stack_places "$@") || return 1
printf '%s\\n' "$stack_all" | sed -n 's/^\\.	//p'
}
stack_names() {
if [ -n "\${1:-}" ]; then printf '%s\\n' "$1"
else
stack_base=\${stack_here:-$PWD}
stack_base=\${stack_base%/}
printf '%s\\n' "\${stack_base##*/}"
(cd "\${stack_here:-.}" 2>/dev/null && stack_base=$(pwd -P) && printf '%s\\n' "\${stack_base##*/}")
fi | LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C sed -e 's/[^a-z0-9_-]//g' -e p -e 's/^[_-]*//' | LC_ALL=C sort -u
}
named_one_of() {
stack_is=$1 awk -F '\\t' '
BEGIN { for (at = split(ENVIRON["stack_is"], all, "\\n"); at > 0; at--) if (all[at] != "") is[all[at]] = 1 }
$1 in is { sub(/^[^\\t]*\\t/, ""); print }'
}
foreign_among() {
stack_is=$1 awk -F '\\t' '
BEGIN { for (at = split(ENVIRON["stack_is"], all, "\\n"); at > 0; at--) if (all[at] != "") is[all[at]] = 1 }
$1 != "." && $1 != "" && $2 in is { print $1 "\\t" $3 "\\t" $2 }'
}
stack_foreign() {
stack_all=$(stack_places "{{.Label \\"com.docker.compose.project\\"}}	{{.Names}}" -a) || return 1
foreign_of "$stack_all"
}
foreign_of() {
stack_all=$1
stack_is=$({ printf '%s\\n' "$stack_all" | sed -n 's/^\\.	\\([^	]*\\)	.*/\\1/p'; sed -n 's/^project	//p' .berth/stack 2>/dev/null; } | grep . || stack_names)
printf '%s\\n' "$stack_all" | foreign_among "$stack_is"
}
path=$(path_of "$1")
if ! cd "$path" 2>/dev/null; then
why=$(LC_ALL=C ls -d "$path/." 2>&1)
printf '%s\\n' "$why" >&2
case $why in *"No such file"* | *"Not a directory"*) exit 66 ;; esac
exit 1
fi
find_compose
since=$(parse_time "$4")
until=$(parse_time "\${7:-}")
contains=\${8:-}
lines=$2
tail=$lines
if [ -n "$contains" ]; then lines=10000 tail=200000; fi
[ -z "$until" ] || tail=all
containing() {
if [ -n "$contains" ]; then LC_ALL=C grep -aiF -e "$contains"; else cat; fi
}
stamps='s/^\\([^|]*|\\) [0-9-]*T[0-9:.]*Z/\\1/'
[ "$5" != yes ] || stamps=
all=$(stack_places '{{.Label "com.docker.compose.project"}}	{{.Names}}	{{.Label "com.docker.compose.service"}}|{{.Label "com.docker.compose.container-number"}}|{{.Label "com.docker.compose.oneoff"}}' -a 2>/dev/null)
labels=$(printf '%s\\n' "$all" | sed -n 's/^\\.	\\([^	]*\\)	\\([^	]*\\)	/\\2|\\1|/p' |
LC_ALL=C awk -F '|' '
$5 != "True" && $3 != "" { if (!(($3, $4) in seen)) count[$3]++; seen[$3, $4] = 1; line[NR] = $0 }
END {
for (at in line) {
split(line[at], is, "|")
label = is[3] (count[is[3]] > 1 ? "-" is[4] : "")
sub(/,.*/, "", is[1])
print is[1] "=" label
print is[3] "_" is[4] "=" label
print is[3] "-" is[4] "=" label
if (index(is[1], is[2] "-") == 1) print substr(is[1], length(is[2]) + 2) "=" label
}
}' | tr '\\n' ' ')
only_known=
[ -z "$(foreign_of "$all")" ] || only_known=yes
exec 4>&1
code=$({
{ compose_stack "" logs --no-color --timestamps --tail "$tail" \${6:+"$6"} </dev/null 4>&-; echo "$?" >&3; } |
LC_ALL=C sed -n '/^[^|]*| [0-9]\\{4\\}-[0-9-]*T[0-9:.]*Z/p' |
LC_ALL=C awk -F '|' -v since="$since" -v until="$until" -v labels="$labels" -v known="$only_known" '
BEGIN { for (at = split(labels, all, " "); at > 0; at--) { split(all[at], is, "="); label[is[1]] = is[2] } }
since != "" && substr($2, 2, length(since) - 1) < substr(since, 1, length(since) - 1) { next }
until != "" && substr($2, 2, length(until) - 1) > substr(until, 1, length(until) - 1) { next }
{
prefix = $1
sub(/ *$/, "", prefix)
if (known != "" && !(prefix in label)) next
print (prefix in label ? label[prefix] : prefix) " " substr($0, index($0, "|"))
}' |
containing |
LC_ALL=C sort -s -t '|' -k 2.1,2.32 |
tail -n "$lines" |
LC_ALL=C sed "$stamps" |
tail -c "$3" >&4
} 3>&1)
exit "$code"
`
