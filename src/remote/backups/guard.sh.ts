// Generated from guard.sh by "npm run scripts".
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
docker_ids() {
stack_ps '{{.ID}} {{.Label "com.docker.compose.oneoff"}} {{.Status}}' -a --filter "label=com.docker.compose.service=$1" |
awk '$2 != "True"'
}
is_up() { docker_ids "$1" | awk '$3 == "Up" { up = 1 } END { exit !up }'; }
act_on() {
act=$1
act_file=$2
shift 2
if [ -z "$(stack_foreign)" ]; then compose_stack "$act_file" "$act" "$@" </dev/null; return; fi
as_root docker "$act" $(for service do docker_ids "$service" | cut -d ' ' -f 1; done) </dev/null
}
start_stopped() {
[ -s .berth/stopped ] || { rm -f .berth/stopped; return 0; }
{ IFS= read -r compose_kind && IFS= read -r stopped_file; } <.berth/stopped
stopped_services=$(tail -n +3 .berth/stopped | tr '\\n' ' ')
start_foreign=$(stack_foreign)
for pause in 1 2 4 0; do
start_words=$(act_on start "$stopped_file" $stopped_services 2>&1)
down=
for service in $stopped_services; do is_up "$service" || down="$down $service"; done
[ -n "$down" ] || { rm -f .berth/stopped; return 0; }
[ -z "$start_foreign" ] || { sleep "$pause"; continue; }
start_words=$(compose_stack "$stopped_file" up -d --no-deps --no-recreate --no-build $down 2>&1 </dev/null) && { rm -f .berth/stopped; return 0; }
sleep "$pause"
done
echo "so$down did not start again: $(printf '%s\\n' "$start_words" | tail -n 1)"
return 1
}
swap_back() {
[ -s .berth/swapped ] || return 0
while IFS= read -r data; do
beside=$(dirname "$data")
as_root test -d "$beside/.berth-before" </dev/null || continue
as_root rm -rf "$beside/.berth-new" </dev/null
! as_root test -e "$data" </dev/null || as_root mv "$data" "$beside/.berth-new" </dev/null || return 1
as_root mv "$beside/.berth-before" "$data" </dev/null || return 1
as_root rm -rf "$beside/.berth-new" </dev/null
done <.berth/swapped
rm -f .berth/swapped
}
trap '' HUP INT PIPE TERM
berth_ignores=yes
cd "$1" || exit 1
exec 6>>.berth/stopping || exit 1
flock 6
swap_back
[ -s .berth/stopped ] || exit 0
until start_stopped >/dev/null 2>&1; do
attempts=$((\${attempts:-0} + 1))
[ "$attempts" -lt 20 ] || exit 1
sleep 15
done
`
