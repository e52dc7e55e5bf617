// Generated from restore.sh by "npm run scripts".
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
docker_quietly() { as_root docker "$@" </dev/null >/dev/null 2>&1; }
name_ids() {
[ "$#" -gt 0 ] || return 0
if ids=$(as_root docker image inspect --format '{{.Id}}' "$@" 2>/dev/null </dev/null); then
for id in $ids; do printf '%s %s\\n' "$id" "$1"; shift; done
return 0
fi
[ "$#" -gt 1 ] || return 0
for name do
id=$(as_root docker image inspect --format '{{.Id}}' "$name" 2>/dev/null </dev/null) && printf '%s %s\\n' "$id" "$name"
done
return 0
}
kept_prefix() { printf 'berth/kept:%s-' "$(pwd -P | sha256sum | cut -c 1-12)"; }
prefix_here() { printf 'berth/release:%s-' "$(pwd -P | sha256sum | cut -c 1-12)"; }
keep_images() {
names_begin=$(kept_prefix)
while read -r kept_id _; do
[ -z "$kept_id" ] || docker_quietly tag "$kept_id" "$names_begin$(printf '%s' "\${kept_id#sha256:}" | cut -c 1-12)"
done
}
incoming_prefix() { printf 'berth/incoming:%s-' "$1"; }
forget_incoming() {
[ -s .berth/loading ] || return 0
docker_quietly rmi $(awk -v prefix="$(incoming_prefix "$(cat .berth/loading)")" 'BEGIN { for (number = 1; number <= 100; number++) print prefix number }' </dev/null)
rm -f .berth/loading
}
docker_images() {
for pause in 0.1 0.3 1; do
if listed_images=$(as_root docker image ls "$@" 2>/dev/null </dev/null); then
[ -z "$listed_images" ] || printf '%s\\n' "$listed_images"
return 0
fi
sleep "$pause" 2>/dev/null || sleep 1
done
as_root docker image ls "$@" </dev/null
}
list_images() { docker_images -a --no-trunc --format '{{.ID}} {{.Repository}}:{{.Tag}}' && echo ok; }
restore_names() {
while read -r id name _; do docker_quietly tag "$id" "$name"; done <"$1"
}
restore_containers() {
while read -r _ _ id name; do
is=$(as_root docker inspect --type container --format '{{.Name}}' "$id" 2>/dev/null </dev/null) || continue
[ "$is" != "$name" ] || continue
docker_quietly rm -f "\${name#/}"
docker_quietly rename "$id" "\${name#/}"
done <.berth/running
}
restore_current() { [ ! -f .berth/before ] || mv -f .berth/before .berth/current; }
restore_files() {
restore_current
while IFS= read -r name; do
if [ -e "$previous/$name" ]; then mv -f "$previous/$name" "$name"
elif [ -e "$previous/$name.absent" ]; then rm -f "$name"
fi
done <.berth/files
[ ! -f .berth/gone ] || while IFS= read -r name; do
[ ! -f "$previous/$name" ] || mv -f "$previous/$name" "./$name"
done <.berth/gone
if [ -s .berth/stack.before ]; then mv -f .berth/stack.before .berth/stack
elif [ -e .berth/stack.before ]; then rm -f .berth/stack .berth/stack.before
fi
}
remount() {
[ -s .berth/remount ] || return 0
stack_all=$(stack_ps '{{.ID}} {{.Label "com.docker.compose.service"}} {{.Label "com.docker.compose.oneoff"}}' -a) || return 1
printf '%s\\n' "$stack_all" | awk 'NF > 1 && $3 != "True" { print $1, $2 }' >.berth/remounted || return 1
which=$1
set --
while IFS= read -r service; do
if awk -v service="$service" -v which="$which" '
FILENAME == ARGV[1] { old[$1] = 1; next }
$2 == service && (($1 in old) == (which == "kept")) { found = 1 }
END { exit !found }' .berth/old .berth/remounted; then set -- "$@" "$service"
fi
done <.berth/remount
rm -f .berth/remounted
[ "$#" -eq 0 ] || compose_stack "$compose_file" up -d --no-deps --force-recreate "$@" </dev/null
}
stop_orphans() {
[ ! -s .berth/orphans ] || docker_quietly stop $(cut -f 1 .berth/orphans)
return 0
}
start_orphans() {
[ -s .berth/orphans ] || return 0
cut -f 1 .berth/orphans | while IFS= read -r id; do
! grep -qF -e " $id " .berth/running || docker_quietly start "$id"
done
}
drop_orphans() {
[ -f .berth/orphans ] || return 0
while IFS='	' read -r id service; do
[ "$(as_root docker inspect --type container --format '{{.State.Running}}' "$id" 2>/dev/null </dev/null)" = false ] || continue
as_root docker rm "$id" </dev/null >/dev/null 2>&1 && printf 'orphan\\t%s\\n' "$service"
done <.berth/orphans
rm -f .berth/orphans
}
remove_made() {
[ -f .berth/owned ] || return 0
stack_ps '{{.ID}}	{{.Label "com.docker.compose.project"}}	{{.Label "com.docker.compose.service"}}' -a >.berth/made || return 1
made=$(awk -F '\\t' '
FILENAME == ARGV[1] { had[$2, $3] = 1; old[$1] = 1; next }
!($1 in old) && !(($2, $3) in had) { print $1 }' .berth/owned .berth/made)
names=$(cut -f 2 .berth/made | sort -u)
rm -f .berth/made
[ -z "$made" ] || as_root docker rm -f $made </dev/null >/dev/null || return 1
[ -f .berth/networks ] || return 0
for name in $names; do
[ -z "$(as_root docker ps -aq --filter "label=com.docker.compose.project=$name" </dev/null)" ] || continue
for network in $(as_root docker network ls -q --no-trunc --filter "label=com.docker.compose.project=$name" </dev/null); do
grep -qxF -e "$network" .berth/networks || docker_quietly network rm "$network"
done
done
}
let_go() {
[ "$store" = containerd ] || return 0
if [ -z "$incoming" ] || docker_quietly rmi $incoming; then rm -f .berth/loading; fi
held=$(docker_images --format '{{.Repository}}:{{.Tag}}' | grep "^$(kept_prefix)")
[ -z "$held" ] || docker_quietly rmi $held
}
remove_hooks() {
hooks_left=$(as_root docker ps -aq --filter "label=berth.hook=$(pwd -P)" 2>/dev/null </dev/null)
[ -z "$hooks_left" ] || docker_quietly rm -fv $hooks_left
}
put_back() {
[ ! -e .berth/hook ] || remove_hooks
again=$(remove_made 2>&1) || return 1
if [ -s .berth/running ]; then
restore_files
restore_names .berth/names
restore_names .berth/running
restore_containers
compose_file=$(stack_file "$compose_file")
{ again=$(compose_stack "$compose_file" up -d 2>&1 </dev/null) || again=$(compose_stack "$compose_file" up -d 2>&1 </dev/null); } &&
again=$(remount made 2>&1)
is_back=$?
start_orphans
return "$is_back"
fi
[ -z "$(stack_ps '{{.ID}}')" ] || as_root docker stop $(stack_ps '{{.ID}}') </dev/null >/dev/null 2>&1
restore_files
restore_names .berth/names
return 0
}
if [ "$#" -gt 0 ]; then cd "$(path_of "$1")" || exit 1
else cd "$(dirname "$0")/.." || exit 1
fi
trap '' HUP
previous=.berth/previous
[ -d "$previous" ] || [ -f .berth/bridge ] || { echo "$(pwd): no deploy was cut off here, so there is nothing to put back"; exit 0; }
exec 8>>.berth/activation || exit 1
flock -n 8 || { echo "$(pwd): a deploy is starting the stack right now; it puts back what fails by itself" >&2; exit 75; }
if [ -f .berth/bridge ] && [ -f .berth/lock ]; then
flock -n .berth/lock true || { echo "$(pwd): a Berth is deploying here right now; it leads the requests back by itself" >&2; exit 75; }
fi
find_compose
[ "$compose_kind" != none ] || { echo "neither docker compose nor docker-compose answers; try again with sudo" >&2; exit 1; }
if [ -d "$previous" ]; then
compose_file=$(stack_file compose.yml)
if [ -s .berth/running ] || [ -n "$(ls -A "$previous")" ]; then put_back
else
restore_current
restore_names .berth/names
fi || { printf '%s\\n' "$again" >&2; echo "$(pwd): the files are back, but the stack did not start" >&2; exit 1; }
rm -rf .berth/staged .berth/context "$previous"
rm -f .berth/waiting .berth/go .berth/stop .berth/hook
store=containerd
incoming=
forget_incoming
let_go
echo "$(pwd): the previous version is back"
fi
if [ -f .berth/leadBack.sh ]; then . ./.berth/leadBack.sh
elif [ -f .berth/bridge ]; then
docker_quietly rm -fv $(awk -F '\\t' '$1 == "bridge" { print $3 }' .berth/bridge)
rm -f .berth/bridge
fi
`
