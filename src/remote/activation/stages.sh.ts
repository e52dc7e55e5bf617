// Generated from stages.sh by "npm run scripts".
export const script = `functions='known_compose() { return 1; }
compose_program=
find_program() {
[ -z "$compose_program" ] || return 0
compose_program=docker-compose
[ "\${berth_user:-0}" != 0 ] || return 0
[ "$(as_root sh -c '\\''command -v docker-compose || echo none'\\'' 2>/dev/null </dev/null)" = none ] || return 0
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
[ ! -f .berth/stack ] || stack_first=$(sed -n "s/^compose$(printf '\\''\\t'\\'')//p" .berth/stack | head -n 1)
for name in "$stack_first" "$@" compose.yml compose.yaml docker-compose.yml docker-compose.yaml; do
if [ -n "$name" ] && [ -f "$name" ]; then printf '\\''%s\\n'\\'' "$name"; return; fi
done
}
stack_variables() {
if [ "$#" -eq 1 ]; then printf '\\''%s\\n'\\'' "$1"; return; fi
(umask 077; for name do cat "./$name" && echo || exit 1; done >"\${stack_home:-.berth}/variables.new") &&
mv -f "\${stack_home:-.berth}/variables.new" "\${stack_home:-.berth}/variables" && printf '\\''%s\\n'\\'' "\${stack_home:-.berth}/variables"
}
compose_stack() {
stack_only=$1
shift
stack_note=\${stack_home:-.berth}/stack
if [ ! -f "$stack_note" ] || [ ! -f "$(sed -n "s/^compose$(printf '\\''\\t'\\'')//p" "$stack_note" | head -n 1)" ]; then
compose \${stack_only:+-f "$stack_only"} "$@"
return
fi
stack_own=$#
while IFS='\\''	'\\'' read -r stack_key stack_value; do
case $stack_key in
compose) set -- "$@" -f "$stack_value" ;;
profile) set -- "$@" --profile "$stack_value" ;;
project) set -- "$@" -p "$stack_value" ;;
esac
done <"$stack_note"
stack_values=$(sed -n "s/^variables$(printf '\\''\\t'\\'')//p" "$stack_note")
if [ -n "$stack_values" ]; then
stack_values=$(printf '\\''%s\\n'\\'' "$stack_values" | { set --; while IFS= read -r name; do set -- "$@" "$name"; done; stack_variables "$@"; }) || return 1
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
docker_quietly() { as_root docker "$@" </dev/null >/dev/null 2>&1; }
name_ids() {
[ "$#" -gt 0 ] || return 0
if ids=$(as_root docker image inspect --format '\\''{{.Id}}'\\'' "$@" 2>/dev/null </dev/null); then
for id in $ids; do printf '\\''%s %s\\n'\\'' "$id" "$1"; shift; done
return 0
fi
[ "$#" -gt 1 ] || return 0
for name do
id=$(as_root docker image inspect --format '\\''{{.Id}}'\\'' "$name" 2>/dev/null </dev/null) && printf '\\''%s %s\\n'\\'' "$id" "$name"
done
return 0
}
kept_prefix() { printf '\\''berth/kept:%s-'\\'' "$(pwd -P | sha256sum | cut -c 1-12)"; }
prefix_here() { printf '\\''berth/release:%s-'\\'' "$(pwd -P | sha256sum | cut -c 1-12)"; }
keep_images() {
names_begin=$(kept_prefix)
while read -r kept_id _; do
[ -z "$kept_id" ] || docker_quietly tag "$kept_id" "$names_begin$(printf '\\''%s'\\'' "\${kept_id#sha256:}" | cut -c 1-12)"
done
}
incoming_prefix() { printf '\\''berth/incoming:%s-'\\'' "$1"; }
forget_incoming() {
[ -s .berth/loading ] || return 0
docker_quietly rmi $(awk -v prefix="$(incoming_prefix "$(cat .berth/loading)")" '\\''BEGIN { for (number = 1; number <= 100; number++) print prefix number }'\\'' </dev/null)
rm -f .berth/loading
}
docker_images() {
for pause in 0.1 0.3 1; do
if listed_images=$(as_root docker image ls "$@" 2>/dev/null </dev/null); then
[ -z "$listed_images" ] || printf '\\''%s\\n'\\'' "$listed_images"
return 0
fi
sleep "$pause" 2>/dev/null || sleep 1
done
as_root docker image ls "$@" </dev/null
}
list_images() { docker_images -a --no-trunc --format '\\''{{.ID}} {{.Repository}}:{{.Tag}}'\\'' && echo ok; }
restore_names() {
while read -r id name _; do docker_quietly tag "$id" "$name"; done <"$1"
}
restore_containers() {
while read -r _ _ id name; do
is=$(as_root docker inspect --type container --format '\\''{{.Name}}'\\'' "$id" 2>/dev/null </dev/null) || continue
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
stack_all=$(stack_ps '\\''{{.ID}} {{.Label "com.docker.compose.service"}} {{.Label "com.docker.compose.oneoff"}}'\\'' -a) || return 1
printf '\\''%s\\n'\\'' "$stack_all" | awk '\\''NF > 1 && $3 != "True" { print $1, $2 }'\\'' >.berth/remounted || return 1
which=$1
set --
while IFS= read -r service; do
if awk -v service="$service" -v which="$which" '\\''
FILENAME == ARGV[1] { old[$1] = 1; next }
$2 == service && (($1 in old) == (which == "kept")) { found = 1 }
END { exit !found }'\\'' .berth/old .berth/remounted; then set -- "$@" "$service"
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
while IFS='\\''	'\\'' read -r id service; do
[ "$(as_root docker inspect --type container --format '\\''{{.State.Running}}'\\'' "$id" 2>/dev/null </dev/null)" = false ] || continue
as_root docker rm "$id" </dev/null >/dev/null 2>&1 && printf '\\''orphan\\t%s\\n'\\'' "$service"
done <.berth/orphans
rm -f .berth/orphans
}
remove_made() {
[ -f .berth/owned ] || return 0
stack_ps '\\''{{.ID}}	{{.Label "com.docker.compose.project"}}	{{.Label "com.docker.compose.service"}}'\\'' -a >.berth/made || return 1
made=$(awk -F '\\''\\t'\\'' '\\''
FILENAME == ARGV[1] { had[$2, $3] = 1; old[$1] = 1; next }
!($1 in old) && !(($2, $3) in had) { print $1 }'\\'' .berth/owned .berth/made)
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
held=$(docker_images --format '\\''{{.Repository}}:{{.Tag}}'\\'' | grep "^$(kept_prefix)")
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
[ -z "$(stack_ps '\\''{{.ID}}'\\'')" ] || as_root docker stop $(stack_ps '\\''{{.ID}}'\\'') </dev/null >/dev/null 2>&1
restore_files
restore_names .berth/names
return 0
}'
eval "$functions"
again=
by_hand='if [ "$#" -gt 0 ]; then cd "$(path_of "$1")" || exit 1
else cd "$(dirname "$0")/.." || exit 1
fi
trap '\\'''\\'' HUP
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
fi || { printf '\\''%s\\n'\\'' "$again" >&2; echo "$(pwd): the files are back, but the stack did not start" >&2; exit 1; }
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
docker_quietly rm -fv $(awk -F '\\''\\t'\\'' '\\''$1 == "bridge" { print $3 }'\\'' .berth/bridge)
rm -f .berth/bridge
fi'
alone='path_of() {
case $1 in
"~") printf '\\''%s\\n'\\'' "$HOME" ;;
"~/"*) printf '\\''%s\\n'\\'' "$HOME/\${1#??}" ;;
-*) printf '\\''%s\\n'\\'' "./$1" ;;
*) printf '\\''%s\\n'\\'' "$1" ;;
esac
}
as_root() { "$@"; }'
inspect() {
[ "$#" -gt 0 ] || return 0
printf 'now\\t%s\\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)"
as_root docker inspect --type container --format "$(printf 'container\\t')"'{{.Id}}|{{.Name}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.HostConfig.RestartPolicy.Name}}|{{.RestartCount}}|{{json .State}}' "$@" 2>/dev/null </dev/null
}
numbers() {
for note in .berth/releases/[0-9]*/note; do
release=\${note%/note}
[ ! -f "$note" ] || printf '%s\\n' "\${release##*/}"
done | sort -rn
}
unused_images() {
to_drop=$1
set --
for note in .berth/leaving .berth/releases/[0-9]*/note; do
[ ! -f "$note" ] || set -- "$@" "$note"
done
[ "$#" -gt 0 ] || return 0
awk -F '\\t' -v dropped="$to_drop" '
FNR == 1 {
parts = split(FILENAME, path, "/")
is_dropped = index(dropped, " " path[parts - 1] " ") > 0
}
($1 == "image" ? $2 : $1) !~ /^sha256:[0-9a-f]+( .*)?$/ { next }
$1 == "image" && !is_dropped { needed[$2] = 1 }
$1 == "image" && is_dropped && $4 == "brought" { own[$2] = own[$2] ($3 == $2 ? "" : " " $3) }
$1 == "image" && is_dropped && $4 == "kept" { own[$2] = own[$2] "" }
$1 ~ /^sha256:/ {
split($1, words, " ")
own[words[1]] = own[words[1]] substr($1, length(words[1]) + 1)
}
END { for (id in own) if (!(id in needed)) print id own[id] }' "$@"
}
image_fate() {
unused_id=$1
shift
berths_name=$release_prefix$(printf '%s' "\${unused_id#sha256:}" | cut -c 1-12)
names_now=$(printf '%s\\n' "$images_there" | sed -n "s/^$unused_id //p" | grep -vxF '<none>:<none>')
fate=missing
fate_by=
[ -n "$names_now" ] || printf '%s\\n' "$images_there" | grep -q "^$unused_id " || return 0
for name in $names_now; do
case " $* $berths_name " in
*" $name "*) ;;
*)
fate=named
fate_by=$name
return 0 ;;
esac
done
fate_by=$(as_root docker ps -a --no-trunc --filter "ancestor=$unused_id" --format '{{.ID}} {{.Names}}' </dev/null |
awk -v without=" \${fate_without:-} " 'index(without, " " $1 " ") == 0 { print $2; exit }')
fate=goes
[ -z "$fate_by" ] || fate=used
}
remove_image() {
image_fate "$@"
case $fate in
named) docker_quietly rmi "$berths_name" || : ;;
used) return 1 ;;
goes)
docker_quietly rmi \${names_now:-"$unused_id"} ;;
esac
}
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
staged=.berth/staged
previous=.berth/previous
rm -rf "$staged" "$previous" .berth/context .berth/stack.before .berth/remount
note() { cat >".berth/$1" || { echo "so .berth/$1 could not be noted" >&2; return 1; }; }
begin_note() { printf '' >".berth/$1" || { echo "so .berth/$1 could not be noted" >&2; return 1; }; }
give_up() {
wait
rm -rf "$staged" "$previous"
exit 1
}
wanted=
while [ "$names" -gt 0 ]; do
wanted="$wanted $1"
names=$((names - 1))
shift
done
for list in gone brought; do
files_left=$1
shift
begin_note "$list" || exit 1
while [ "$files_left" -gt 0 ]; do
printf '%s\\n' "$1" >>".berth/$list" || exit 1
files_left=$((files_left - 1))
shift
done
done
name_ids $wanted </dev/null | note names &
naming=$!
forget_incoming
[ "$source" != incoming ] || printf '%s\\n' "$run" | note loading || give_up
rm -f .berth/present
listing=
case $source in
file | part | incoming | whole)
{ list_images | note present; } 2>/dev/null &
listing=$! ;;
esac
mkdir -p "$previous" || give_up
mv .berth/incoming "$staged" 2>/dev/null || mkdir -p "$staged" || give_up
[ -f "$staged/$compose_file" ] || [ -f "$compose_file" ] || { echo "$compose_file is missing" >&2; give_up; }
(cd "$staged" && find . -type f) | note files || give_up
files_there=$(($(wc -l <.berth/files)))
[ "$files_there" -eq "$files_staged" ] || {
echo "$(pwd)/.berth/incoming has $files_there files where $files_staged were put: somebody has changed it, so try again" >&2
give_up
}
printf '%s\\n' '#!/bin/sh' "$alone" "$functions" "$by_hand" | note restore.sh || give_up
begin_note running || give_up
begin_note old || give_up
rm -f .berth/containers .berth/said
came_to() { printf '%s\\t%s\\n' "$run" "$1" >.berth/outcome; }
came_to begun || give_up
containers() {
case $compose_kind in
v1) compose_stack "$1" ps -q 2>/dev/null </dev/null ;;
*) compose_stack "$1" ps -aq 2>/dev/null </dev/null ;;
esac
}
containers_here() {
here=$(stack_ps "{{.Label \\"com.docker.compose.project\\"}}$tab{{.ID}}" -a 2>/dev/null) || return 1
here=$(printf '%s\\n' "$here" | named_one_of "$(cat .berth/called)")
[ -n "$here" ] && printf '%s\\n' "$here"
}
surveyed_here() { printf '%s\\n' "$listed" | sed -n "s/^\\.$tab//p"; }
new_names() {
called_is=$(printf '%s\\n' "$manifest" | sed -n "s/^called$tab/=/p")
if [ -n "$called_is" ]; then stack_names "\${called_is#=}"
else
{ about project; surveyed_here | cut -f 1; } | grep . | sort -u | grep . || stack_names
fi
}
list_orphans() {
services=$(about service)
[ -n "$services" ] && [ "$(about orphans)" != keep ] || return 0
{ printf '%s\\n' "$services" | cut -f 2-; echo /; printf '%s\\n' "$called"; echo /; surveyed_here; } | awk -F '\\t' '
$0 == "/" { part++; next }
part == 0 { service[$0] = 1; next }
part == 1 { name[$0] = 1; next }
$5 != "True" && $1 in name && !($4 in service) { print $3 "\\t" $4 }'
}
note_running() {
as_root docker inspect --type container --format '{{if .State.Running}}{{.Image}} {{.Config.Image}} {{.Id}} {{.Name}}{{end}}' "$@" 2>/dev/null </dev/null |
sed '/^$/d' | note running
}
survey() {
listed=$(stack_places "{{.Label \\"com.docker.compose.project\\"}}$tab{{.Names}}$tab{{.ID}}$tab{{.Label \\"com.docker.compose.service\\"}}$tab{{.Label \\"com.docker.compose.oneoff\\"}}" -a) || return 1
old=$(surveyed_here | cut -f 3)
asking=
if [ -n "$old" ]; then
note_running $old &
asking=$!
fi
called=$(new_names)
printf '%s\\n' "$called" | note called || return 1
surveyed_here | awk -F '\\t' '{ print $3 "\\t" $1 "\\t" $4 }' | note owned && list_orphans | note orphans || return 1
strangers=$(printf '%s\\n' "$listed" | foreign_among "$called")
if [ -z "$old$strangers" ] && [ -n "$old_file" ]; then
old=$(containers "$old_file")
[ -z "$old" ] || note_running $old || return 1
fi
printf '%s\\n' "$old" | note old || return 1
surveyed_here | cut -f 1 | grep -qxF -e "$called" || as_root docker network ls -q --no-trunc </dev/null | note networks || return 1
[ -z "$asking" ] || wait "$asking" || return 1
{ printf '%s\\n' "$strangers"; echo surveyed; } | sed '/^$/d' | note foreign
}
old_file=$(stack_file "$compose_file")
rm -f .berth/foreign .berth/owned .berth/orphans .berth/networks .berth/called
before=
(survey; code=$?; wait; exit "$code") </dev/null >.berth/surveyed 2>&1 &
surveying=$!
wait "$naming" || give_up
[ -z "$listing" ] || wait "$listing"
[ "$store" != containerd ] || sort -u .berth/names | keep_images
[ -z "$checking" ] || check_begin || give_up
forget_names() {
for name in $subjects; do
cut -d ' ' -f 2 .berth/names | grep -qxF "$name" || docker_quietly rmi "$name"
done
}
failed() {
if [ -z "$before" ]; then
before=nothing
[ ! -s .berth/running ] || before=running
fi
printf 'failed\\t%s\\t%s\\t%s\\n' "$1" "$2" "$before"
printf '%s\\n' "$said" | tail -c 6000
(umask 077; printf '%s\\n' "$said" | tail -c 6000 >.berth/said) 2>/dev/null
came_to "$(printf '%s\\t%s\\t%s\\t%s' "$([ -z "$(about again)" ] && echo failed || echo stays)" "$1" "$2" "$before")"
rm -rf "$staged" "$previous"
let_go
exit 1
}
exec 5>&1
most_reported=100000
report_lines() {
room=$most_reported
while IFS= read -r line || [ -n "$line" ]; do
printf '%s\\n' "$line"
[ "$room" -gt 0 ] || continue
room=$((room - \${#line} - 50))
[ "$room" -gt 0 ] || line='(more than this is not told)'
printf '%s\\t%s\\n' "$1" "$line" >&5
done 2>/dev/null
}
report() {
label=$1
shift
{ { { { "$@" 2>&1 3>&- 4>&- 5>&-; echo "$?" >&3; } | report_lines "$label" >&4 3>&-; } 3>&1; } | { read -r code; exit "\${code:-1}"; }; } 4>&1
}
ids=
count=$(($# / 2))
while [ "$count" -gt 0 ]; do
ids="$ids $1"
shift
count=$((count - 1))
done
subjects=$*
incoming=$([ "$source" != incoming ] || printf '%s\\n' $ids | awk -v prefix="$(incoming_prefix "$run")" '!seen[$0]++ { number++; print prefix number }')
docker_load() {
if [ "$store" != containerd ]; then as_root docker load; return; fi
heard=$(as_root docker load "$@" 2>&1)
code=$?
printf '%s\\n' "$heard"
case $heard in *"rror unpacking"*) return 1 ;; esac
return "$code"
}
is_expected() {
is=$(as_root docker image inspect --format "$format" $1 </dev/null) || return 1
[ "$(printf '%s\\n' "$is" | sha256sum | cut -c 1-64)" != "$expected" ] || return 0
echo "what was loaded as $1 is not the image of the archive:"
printf '%s\\n' "$is"
return 1
}
is_listed() {
for name in $incoming; do
[ -n "$(docker_images -q "$name")" ] || { echo "the server lacks layers of $name"; return 1; }
done
}
give_names() {
for id in $ids; do
[ "$id" = "$1" ] || grep -qxF "$id $1" .berth/names || as_root docker tag "$id" "$1" </dev/null || return 1
shift
done
}
load() {
case $source in
none) return 0 ;;
file) docker_load <"$staged/$archive" || return 1 ;;
part | whole) docker_load || return 1 ;;
incoming)
docker_load \${platform:+--platform "$platform"} && is_expected "$incoming" && is_listed && give_names "$@"
return ;;
names) give_names "$@" || return 1 ;;
esac
[ -z "$subjects" ] || is_expected "$subjects"
}
printf 'step\\tload\\n'
said=$(report loaded load "$@")
code=$?
if ! wait "$surveying"; then
before=unknown
surveyed=$(cat .berth/surveyed 2>/dev/null)
[ "$code" -ne 0 ] || said="what runs now could not be noted in .berth\${surveyed:+: $surveyed}"
code=1
fi
if [ "$code" -ne 0 ]; then
wait
restore_names .berth/names
forget_names
rm -rf .berth/incoming
mv "$staged" .berth/incoming
! flock -n .berth/lock true 2>/dev/null || rm -rf .berth/incoming
failed load yes
fi
wait
old=$(cat .berth/old)
placed=
note_stack() {
if [ -f .berth/stack ]; then cp -p .berth/stack .berth/stack.before || return 1
else : >.berth/stack.before || return 1
fi
[ -z "$(about compose)" ] || printf '%s\\n' "$manifest" | grep -e "^compose$tab" -e "^profile$tab" -e "^project$tab" -e "^variables$tab" | note stack || return 1
{ sed 's,^\\./,,' .berth/files; cat .berth/gone; echo /; about mount; } | awk '
$0 == "/" { mounts = 1; next }
!mounts {
changed[$0] = 1
count = split($0, parts, "/")
above = parts[1]
for (at = 2; at <= count; at++) { changed[above] = 1; above = above "/" parts[at] }
next
}
{ service = $0; sub(/\\t.*/, "", service); path = substr($0, length(service) + 2) }
path in changed && !seen[service]++ { print service }' | note remount
}
place() {
note_stack || return 1
rm -f .berth/before
[ ! -f .berth/current ] || mv -f .berth/current .berth/before || return 1
while IFS= read -r name; do
case $name in
./.secrets/*) [ ! -L .secrets ] && mkdir -p .secrets && chmod 700 .secrets || return 1 ;;
esac
mkdir -p "$(dirname "$name")" "$(dirname "$previous/$name")" || return 1
if [ -e "$name" ]; then ln "$name" "$previous/$name" 2>/dev/null || cp -p "$name" "$previous/$name" || return 1
else : >"$previous/$name.absent" || return 1
fi
mv -f "$staged/$name" "$name" || return 1
done <.berth/files
while IFS= read -r name; do
if [ -L "./$name" ] || [ ! -f "./$name" ]; then continue; fi
mkdir -p "$(dirname "$previous/$name")" && mv -f "./$name" "$previous/$name" || return 1
done <.berth/gone
about context | while IFS= read -r name; do
[ -e "./$name" ] || mkdir -p "./$name" || return 1
done
}
note_brought() {
[ "$store" = docker ] && grep -qx ok .berth/present 2>/dev/null || return 0
set -- $subjects
for id in $ids; do
grep -q "^$id " .berth/present || printf '%s %s\\n' "$id" "$1" >>.berth/leaving
shift
done
}
refuse_start() {
rm -f .berth/foreign .berth/differences
note_brought 2>/dev/null
restore_names .berth/names
failed config yes
}
case $(cat .berth/foreign 2>/dev/null) in
surveyed) ;;
*) said=$(sed -e '$d' -e "s/^/foreign$tab/" .berth/foreign) && refuse_start ;;
esac
[ -z "$checking" ] || check_end
context_home=$(pwd -P)/.berth/context
make_context() {
rm -rf "$context_home"
context_place=$context_home/of/$(basename "$(pwd -P)")
mkdir -p "$context_place" || return 1
context_called=$context_home/of/$(basename "$PWD")
[ "$context_called" = "$context_place" ] || ln -s "$context_place" "$context_called" || return 1
[ ! -d .secrets ] || ln -s "$(pwd -P)/.secrets" "$context_place/.secrets" || return 1
printf '%s\\n' "$manifest" | grep -e "^compose$tab" -e "^profile$tab" -e "^project$tab" -e "^variables$tab" >"$context_home/stack" || return 1
{
sed 's,^\\./,,' .berth/files
echo /
for kind in compose env file large; do about "$kind"; done
{ echo .env; expected_about read; } | while IFS= read -r name; do
[ ! -f "./$name" ] || grep -qxF -e "$name" .berth/gone || printf '%s\\n' "$name"
done
} | awk '
$0 == "/" { all = 1; next }
!all { staged[$0] = 1; next }
!/^\\.secrets\\// && !seen[$0]++ { print ($0 in staged ? "staged" : "here") "\\t" $0 }' >"$context_home/names" || return 1
copy_names staged "$staged" && copy_names here . || return 1
{ about context; expected_about context; } | while IFS= read -r name; do mkdir -p "$context_place/$name" || exit 1; done
}
expected_about() { [ -z "$checking" ] || printf '%s\\n' "$check_expected" | sed -n "s/^$1$tab//p"; }
copy_names() {
(
cd "$2" && sed -n "s/^$1$tab//p" "$context_home/names" | tr '\\n' '\\0' >"$context_home/list" || exit 1
xargs -0 -r sh -c 'to=$0; cp -pl --parents -- "$@" "$to"' "$context_place" <"$context_home/list" 2>/dev/null && exit 0
tr '\\0' '\\n' <"$context_home/list" | sed 's,^,./,' | tar -cf - -T - | tar -xpf - -C "$context_place"
)
}
is_taken_back() { [ "$(cat .berth/stop 2>/dev/null)" = "$run" ]; }
end_last() {
as_root kill -9 $(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/ (.*) / x /' | awk -v top="$1" '
{ parent[$1] = $4 }
END {
for (id in parent) {
for (at = id; at in parent && at != top && at > 1;) at = parent[at]
if (at == top && id != top) { found[id] = 1; has[parent[id]] = 1 }
}
for (id in found) if (!(id in has)) print id
}')
}
run_build() {
make_context && hold_built || return 1
stack_home=$context_home
(cd "$context_called" && compose_stack "$compose_file" build $to_build </dev/null) &
build_id=$!
(
exec 5>&- 8>&-
while kill -0 "$build_id"; do
! is_taken_back || end_last "$build_id"
sleep 0.5 || sleep 1
done
) >/dev/null 2>&1 </dev/null &
wait "$build_id"
}
note_built() {
name_ids $(about build | cut -f 2 | sort -u) | while read -r id name; do
grep -qxF "$id $name" .berth/names || printf '%s %s\\n' "$id" "$name" >>.berth/leaving || exit 1
done
}
hold_built() {
built_prefix=$(prefix_here)
about build | cut -f 2 | sort -u | while IFS= read -r name; do
id=$(awk -v name="$name" '$2 == name { print $1; exit }' .berth/names)
[ -n "$id" ] || continue
for release_note in .berth/releases/[0-9]*/note; do
grep -q "^image$tab$id$tab.*\${tab}found$" "$release_note" 2>/dev/null || continue
as_root docker tag "$id" "$built_prefix$(printf '%s' "\${id#sha256:}" | cut -c 1-12)" </dev/null || exit 1
sed "/^image$tab$id$tab/s/found$/kept/" "$release_note" >"$release_note.new" && mv -f "$release_note.new" "$release_note" || exit 1
done
done
}
build_failed() {
note_brought 2>/dev/null
restore_names .berth/names
failed build yes
}
to_build=$(about build | awk -F '\\t' '$3 == "now" { printf "%s ", $1 }')
if [ -n "$to_build" ]; then
said=$(report loaded run_build)
code=$?
rm -rf "$context_home"
note_built 2>/dev/null
! is_taken_back || said="it was taken back"
[ "$code" -eq 0 ] && ! is_taken_back || build_failed
fi
await_go() {
looks=0
while [ -e .berth/waiting ]; do
if [ -e .berth/stop ] && [ "$(cat .berth/stop)" = "$run" ] && rm .berth/waiting 2>/dev/null; then
said="it was taken back"
return 1
fi
looks=$((looks + 1))
if [ $((looks % 10)) = 0 ] && flock -n .berth/lock true 2>/dev/null && rm .berth/waiting 2>/dev/null; then
said="nobody was waiting for it any more"
return 1
fi
sleep 0.2 2>/dev/null || sleep 1
done
[ -e .berth/go ] || { said=".berth/waiting is gone"; return 1; }
}
pause() {
said="so .berth/waiting could not be noted"
printf '%s\\n' "$run" >.berth/waiting || return 1
printf 'step\\t%s\\n' "$1"
await_go && rm -f .berth/go .berth/stop
}
if [ -n "$(about backup)" ]; then
rm -f .berth/go
pause backup || {
rm -f .berth/waiting .berth/go .berth/stop
note_brought 2>/dev/null
restore_names .berth/names
failed backup yes
}
fi
hook=$(about hook)
run_hook() {
place || return 1
set --
while IFS= read -r argument; do set -- "$@" "\${argument#x}"; done <<ARGUMENTS
$(about argument)
ARGUMENTS
compose_stack "$compose_file" run --rm -T --no-deps --name "$hook_name" --label "berth.hook=$(pwd -P)" \\
-e "BERTH_RUN=$run" -e BERTH_HOOK=beforeStart "$hook_service" "$@" </dev/null
}
is_stopped() { [ "$(cat .berth/stop 2>/dev/null)" = "$run" ]; }
is_over() {
[ ! -e .berth/hook ] || [ "$(cut -f 1 .berth/outcome 2>/dev/null)" != "$run" ] ||
{ [ $((left % 5)) = 0 ] && flock -n .berth/activation true; }
}
watch_hook() {
left=$hook_seconds
why=
while left=$((left - 1)) && ! is_over; do
if [ -z "$why" ]; then
if [ "$left" -lt 0 ]; then why="it was stopped after $hook_seconds s (hooks.timeout in container.json)"
elif is_stopped; then why="it was taken back"
elif [ $((left % 5)) = 0 ] && flock -n .berth/lock true; then why="nobody was waiting for it any more"
fi
[ -z "$why" ] || printf '%s\\n' "$why" >.berth/hook
fi
[ -z "$why" ] || as_root docker rm -fv "$hook_name"
sleep 1
done
}
hook_failed() {
why=$(cat .berth/hook 2>/dev/null)
[ -z "$why" ] || said=$(printf '%s\\n%s' "$said" "$why")
rm -f .berth/hook
remove_hooks
note_brought 2>/dev/null
if [ -s .berth/running ]; then
restore_files
restore_names .berth/names
else put_back
fi
failed beforeStart yes
}
if [ -n "$hook" ]; then
printf 'step\\tbeforeStart\\n'
hook_service=$(printf '%s\\n' "$hook" | cut -f 1)
hook_name=$(printf '%s\\n' "$hook" | cut -f 2)
hook_seconds=$(printf '%s\\n' "$hook" | cut -f 3)
remove_hooks
said="it was taken back"
! is_stopped || hook_failed
said="so .berth/hook could not be noted"
: >.berth/hook || hook_failed
(exec 5>&- 8>&-; watch_hook) >/dev/null 2>&1 </dev/null &
said=$(report hooked run_hook) || hook_failed
placed=yes
[ ! -s .berth/hook ] || hook_failed
rm -f .berth/hook
fi
listening() { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '$4 == "0A" { sub(/.*:/, "", $2); print $2 }'; }
run_bridge() {
taken=" $(listening | tr '\\n' ' ') "
candidate=$6
attempts=20
while [ "$candidate" -le "$7" ] && [ "$attempts" -gt 0 ]; do
bridge_port=$candidate
candidate=$((candidate + 1))
case $taken in *" $(printf '%04X' "$bridge_port") "*) continue ;; esac
attempts=$((attempts - 1))
printf 'bridge\\t%s\\t%s\\t%s\\t%s\\n' "$1" "$2" "$5" "$bridge_port" >>.berth/bridge || return 1
said=$(compose_stack "$compose_file" run -d -T --no-deps --name "$2" --label "berth.bridge=$run" -p "\${3:+$3:}$bridge_port:$4" "$1" 2>&1 </dev/null) && return 0
docker_quietly rm -fv "$2"
case $said in *"already allocated"* | *"address already in use"*) ;; *) printf '%s\\n' "$said"; return 1 ;; esac
done
echo "no port from $6 to $7 is free for a second container of $1 (deploy.bridgePorts)"
return 1
}
run_bridges() {
[ -n "$placed" ] || place || return 1
about bridge | while IFS= read -r line; do
set -- $(printf '%s\\n' "$line" | tr '\\t' ' ')
address=$3
[ "$address" != - ] || address=
run_bridge "$1" "$2" "$address" "$4" "$5" "$6" "$7" || exit 1
done
}
bridge_names() { awk -F '\\t' '$1 == "bridge" && !seen[$3]++ { print $3 }' .berth/bridge 2>/dev/null; }
take_back() {
if ! grep -q "^proxy$tab" .berth/bridge 2>/dev/null; then
docker_quietly rm -fv $(bridge_names)
rm -f .berth/bridge .berth/leadBack.sh
fi
rm -f .berth/waiting .berth/go .berth/stop
note_brought 2>/dev/null
restore_files
restore_names .berth/names
failed bridge yes
}
if [ -n "$(about bridge)" ]; then
printf 'step\\tbridge\\n'
rm -f .berth/waiting .berth/go
said="so .berth/bridge could not be noted"
printf 'run\\t%s\\n' "$run" | note bridge 2>/dev/null && said=$(report bridged run_bridges) || take_back
placed=yes
inspect $(bridge_names)
grep "^bridge$tab" .berth/bridge
pause switch || take_back
fi
printf 'step\\tstart\\n'
start() {
[ -n "$placed" ] || place || return 1
stop_orphans && bring_up
}
bring_up() { compose_stack "$compose_file" up -d </dev/null && remount kept; }
said=$(report started start)
code=$?
case $code:$said in
0:*) ;;
*"port is already allocated"*)
said=$(report started bring_up)
code=$?
;;
esac
if [ "$code" -ne 0 ]; then
note_brought 2>/dev/null
if put_back; then failed start yes; fi
said=$(printf '%s\\n\\n%s\\n%s' "$said" "and what ran before did not start again:" "$again")
failed start no
fi
printf '%s\\n' "$said" | LC_ALL=C sed -n -e "/level=warning/s/^/warning$tab/p" -e "s/^WARNING: /warning$tab/p" \\
-e "/ variable is not set\\. /!{/^Python-dotenv could not /!d}" -e "/level=warning/d" -e "/^warning$tab/d" -e "s/^/warning$tab/p" |
head -n 20 | cut -c 1-1000
[ -z "$check_warning" ] || printf 'warning\\t%s\\n' "$check_warning"
while IFS= read -r name; do
[ ! -f "$previous/$name" ] || printf 'removed\\t%s\\n' "$name"
done <.berth/gone
drop_orphans
cp .berth/brought .berth/deployed
rm -f .berth/stack.before
printf 'step\\thealth\\n'
rm -rf "$staged" "$previous"
settle_archive() {
kept=
[ ! -f .berth/archive ] || IFS= read -r kept <.berth/archive
case $kept in */*) kept= ;; esac
if [ "$source" = file ]; then
[ "$kept" != "$archive" ] || kept=
printf '%s\\n' "$archive" >.berth/archive
else
[ -z "$archive" ] || rm -f "./$archive"
rm -f .berth/archive
fi
[ -z "$kept" ] || rm -f "./$kept"
}
[ "$source" = none ] || settle_archive
if [ "$compose_kind" = v1 ] && [ "$compose_version" != 1.x ]; then
{ find_program && LC_ALL=C ls -lLd "$(command -v "$compose_program")" && printf '%s\\n' "$compose_version"; } >.berth/compose 2>/dev/null
fi
now=$(containers_here) || now=$(containers "$compose_file")
printf '%s\\n' "$now" >.berth/containers
if [ -z "$(about again)" ]; then came_to started; else came_to undone; fi
inspect $now
prune() {
dropped=" $({ numbers | tail -n "+$(($1 + 1))"; printf '%s\\n' "$2"; } | tr '\\n' ' ') "
[ -f .berth/leaving ] || case $dropped in *[0-9]*) ;; *) return 0 ;; esac
left=$(unused_images "$dropped")
printf '%s\\n' "$left" | cat >.berth/leaving || return 1
for release in $dropped; do rm -rf ".berth/releases/$release"; done
if [ -n "$left" ]; then
images_there=$(list_images 2>/dev/null) || return 1
printf '%s\\n' "$left" | while IFS= read -r line; do
remove_image $line || printf '%s\\n' "$line"
done | cat >.berth/leaving.new && mv -f .berth/leaving.new .berth/leaving
fi
[ -s .berth/leaving ] && [ -n "$left" ] || rm -f .berth/leaving
}
keep_files() { tr '\\n' '\\0' | xargs -0 -r sh -c 'cp "$0" --parents -- "$@" .berth/releases/.new/files' "$1"; }
copied() { for kind in compose env file; do about "$kind"; done; }
write_release() {
new=.berth/releases/.new
rm -rf "$new"
mkdir -p "$new/files" || return 1
{
printf 'at\\t%s\\nrun\\t%s\\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$run"
printf '%s\\n' "$2" | grep "^image$tab"
printf '%s\\n' "$manifest"
} | cat >"$new/note" || return 1
if ! { copied | keep_files -p && about large | keep_files -pl; } 2>/dev/null; then
rm -rf "$new/files"
mkdir "$new/files" || return 1
{ copied; about large; } | sed 's,^,./,' | tar -cf - -T - | tar -xpf - -C "$new/files" || return 1
fi
[ "$(find "$new/files" -type f | wc -l)" -eq "$({ copied; about large; } | sort -u | wc -l)" ] ||
{ echo "not all of its files could be copied" >&2; return 1; }
printf '%s\\n' "$1" | cat >.berth/releases/last && printf '%s\\n' "$1" | cat >.berth/current.new || return 1
mv "$new" ".berth/releases/$1" && mv -f .berth/current.new .berth/current
}
next_number() { { numbers; cat .berth/releases/last; } 2>/dev/null | awk '$1 + 0 > last { last = $1 + 0 } END { print last + 1 }'; }
images_now() {
built=" $(about build | cut -f 2 | tr '\\n' ' ') "
case $store:$source:$subjects in
*:none:* | *:names:* | *:incoming:* | docker:*:?*) set -- $subjects ;;
*) name_ids $wanted; return ;;
esac
for id in $ids; do
printf '%s %s\\n' "$id" "$1"
shift
done
kept_meaning=$(awk -v others=" $subjects $built" 'index(others, " " $2 " ") == 0' .berth/names)
printf '%s\\n' "$kept_meaning" | sed '/^$/d'
told=" $subjects $(printf '%s\\n' "$kept_meaning" | cut -d ' ' -f 2 | tr '\\n' ' ') "
set --
for name in $wanted; do
case $told in *" $name "*) ;; *) set -- "$@" "$name" ;; esac
done
name_ids "$@"
}
describe_images() {
berths=" $(awk -F '\\t' '$1 == "image" && $4 == "brought" { printf "%s ", $2 }' .berth/releases/*/note 2>/dev/null)"
adopted=" $(awk -F '\\t' '$1 == "image" && $4 == "kept" { printf "%s ", $2 }' .berth/releases/*/note 2>/dev/null)"
if [ "$source" = names ]; then
for id in $ids; do
case $berths in *" $id "*) ;; *) list_images >.berth/present 2>/dev/null; break ;; esac
done
fi
images_now | awk -v of_archive=" $subjects " -v berths="$berths" -v adopted="$adopted" -v own="$release_prefix" -v built=" $(about build | cut -f 2 | tr '\\n' ' ')" '
BEGIN {
while ((getline line < ".berth/names") > 0) {
split(line, pair, " ")
before[pair[2]] = pair[1]
}
while ((getline line < ".berth/present") > 0) {
if (line == "ok") listed = 1
split(line, pair, " ")
here[pair[1]] = 1
meaning[pair[2]] = pair[1]
if (pair[2] ~ /^berth\\/release:/) ours[pair[1]] = 1
}
while ((getline line < ".berth/leaving") > 0) {
split(line, pair, " ")
ours[pair[1]] = 1
}
}
{
is_known = index(berths, " " $1 " ") > 0
brought = index(of_archive, " " $2 " ") > 0 && (is_known || listed && ($1 in ours || !($1 in here)))
if (index(built, " " $2 " ") > 0 && index(adopted, " " $1 " ") == 0) brought = is_known || before[$2] != $1
print "image\\t" $1 "\\t" $2 "\\t" (brought ? "brought" : index(adopted, " " $1 " ") > 0 ? "kept" : "found")
hex = $1
sub(/^sha256:/, "", hex)
name = own substr(hex, 1, 12)
if (brought && (listed ? meaning[name] != $1 : !is_known)) print "tag\\t" $1 "\\t" name
}'
}
record() {
described=$(describe_images)
printf '%s\\n' "$described" | sed -n "s/^tag$tab//p" | while read -r id name; do
as_root docker tag "$id" "$name" </dev/null >/dev/null
done
write_release "$1" "$described"
}
number_of() { about "$1" | grep -x '[0-9]*'; }
release_now() {
[ -n "$manifest" ] || return 0
release_prefix=$(prefix_here)
wanted_again=$(number_of again)
if [ -n "$wanted_again" ]; then
printf '%s\\n' "$wanted_again" | cat >.berth/current.new && mv -f .berth/current.new .berth/current
rm -f .berth/before
return
fi
number=$(next_number)
if unkept=$(record "$number" 2>&1); then printf 'release\\t%s\\n' "$number"
else
number=
rm -rf .berth/releases/.new
full=$(printf '%s\\n' "$unkept" | grep 'No space left' | head -n 1)
printf 'unkept\\t%s\\n' "$(printf '%s\\n' "\${full:-$unkept}" | tail -n 1 | cut -c 1-500)"
fi
earlier=
[ ! -f .berth/before ] || IFS= read -r earlier <.berth/before
if [ -s .berth/running ] && [ -f ".berth/releases/\${earlier:-none}/note" ]; then printf 'before\\t%s\\n' "$earlier"
else earlier=
fi
printf '%s\\tstarted\\t%s\\t%s\\n' "$run" "$number" "$earlier" | cat >.berth/outcome.new 2>/dev/null &&
mv -f .berth/outcome.new .berth/outcome || rm -f .berth/outcome.new
rm -f .berth/before .berth/present
}
printf 'step\\trelease\\n'
release_now
let_go
keep=$(number_of keep)
[ -z "$manifest" ] || prune "\${keep:-1000000}" "$(number_of forget)" 2>/dev/null
printf 'step\\tend\\n'
`
