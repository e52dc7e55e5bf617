// Generated from preflight.sh by "npm run scripts".
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
deploy_revision() { stat -c %y "$1" "$1/holder" 2>/dev/null | tr '\\n' ' '; }
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
tab=$(printf '\\t')
path=$(path_of "$1")
printf 'revision\\t%s\\n' "$(deploy_revision "$path/.berth")"
home=$(cd "$path" 2>/dev/null && pwd -P) && printf 'home\\t%s\\n' "$home"
known_compose() {
find_program
program=$(command -v "$compose_program") || return 1
{ IFS= read -r is && IFS= read -r compose_version; } 2>/dev/null <"$path/.berth/compose" &&
[ "$is" = "$(LC_ALL=C ls -lLd "$program")" ] && return 0
compose_version=1.x
[ "$thorough" = no ] && head -c 80 "$program" | grep -q '^#!.*python'
}
thorough=$2
layers=$3
files=$4
through_sudo=$5
most=$6
planned=$7
project=$8
shift 8
beside() {
find_compose
printf 'compose\\t%s\\t%s\\n' "$compose_kind" "$compose_version"
name_ids "$@" | sed "s/^/image$tab/"
stack_here=$path
others=$(stack_places "{{.Label \\"com.docker.compose.project\\"}}$tab{{.Names}}$tab{{.Ports}}" -a 2>/dev/null)
case $project in
"?") names=$(printf '%s\\n' "$others" | sed -n 's/^\\.	\\([^	]*\\)	.*/\\1/p' | sort -u | grep . || stack_names) ;;
*) names=$(stack_names "$project") ;;
esac
printf '%s\\n' "$others" | here=$path awk -F '\\t' -v names="$(printf '%s\\n' "$names" | tr '\\n' ' ')" '
BEGIN { for (at = split(names, all, " "); at > 0; at--) is[all[at]] = 1 }
$1 == "." && $2 in is { next }
$1 == "." { $1 = ENVIRON["here"]; print "apart\\t" $1 "\\t" $3 "\\t" $2 }
$4 != "" { print "port\\t" $3 "|" $4 "|" $1 }'
printf '%s\\n' "$others" | foreign_among "$names" | sed "s/^/foreign$tab/"
}
[ "$through_sudo" = yes ] || beside "$@" </dev/null &
info=$(as_root docker info --format '{{.ServerVersion}}|{{.Driver}}|{{json .DriverStatus}}|{{.OSType}}/{{.Architecture}}|{{.DockerRootDir}}' </dev/null) || { wait; exit 3; }
[ "$through_sudo" = no ] || beside "$@" </dev/null &
api=
case $layers:$info in yes:*io.containerd.snapshotter*) api=$(as_root docker version --format '{{.Client.APIVersion}}' 2>/dev/null </dev/null) ;; esac
free() { df -Pk "$1" 2>/dev/null | awk 'END { print $(NF - 2) }'; }
near=$path
while [ ! -d "$near" ]; do near=$(dirname "$near"); done
free_here=$(free "$near")
root=\${info##*|}
free_there=
[ ! -d "$root" ] || free_there=$(free "$root")
hashes=
[ "$files" = no ] || hashes=$(cd "$path" 2>/dev/null && xargs -0 sh -c '
sha256sum "$@" 2>/dev/null
for name do
case $name in
"?"*) [ ! -e "\${name#?}" ] || [ -d "\${name#?}" ] || printf "other  %s\\n" "\${name#?}"; name=\${name#?} ;;
esac
[ ! -d "$name" ] || printf "directory  %s\\n" "$name"
done' sh)
chains=
if [ "$layers" = yes ]; then
own=$(cd "$path" 2>/dev/null && prefix_here)
ids=$(docker_images --no-trunc --format '{{.ID}} {{.Repository}}:{{.Tag}}' | awk -v most="$most" -v own="\${own:-/}" '
$2 ~ /^berth\\/incoming:/ { next }
{
rank = index($2, own) == 1 ? 2 : $2 ~ /^berth\\/release:/
ids[++count] = $1
if (rank > ranks[$1]) ranks[$1] = rank
}
END {
for (pass = 2; pass >= 0; pass--) for (i = 1; i <= count; i++)
if (ranks[ids[i]] + 0 == pass && !seen[ids[i]]++ && most-- > 0) print ids[i]
}')
[ -z "$ids" ] || chains=$(as_root docker image inspect --format '{{.Id}} {{json .RootFS.Layers}}' "$@" $ids 2>/dev/null </dev/null)
fi
told() { [ ! -f "$2" ] || { head -c 1048577 "$2" && echo; } 2>/dev/null | sed "s/^/$1$tab/"; }
stack() {
cd "$path" 2>/dev/null || return 0
IFS= read -r current 2>/dev/null <.berth/current && printf 'current\\t%s\\n' "$current"
noted() { sed -n "s/^$1$tab//p" .berth/stack 2>/dev/null; }
number=0
{ noted compose | grep . || printf '%s\\n' "$planned"; } | while IFS= read -r name; do
number=$((number + 1))
told "composefile$number" "./$name"
done
{ noted variables | grep . || echo .env; } | while IFS= read -r name; do told env "./$name"; done
PATH=$PATH:/usr/sbin:/sbin ip -o addr show scope global 2>/dev/null </dev/null |
awk '$2 !~ /^(docker|br-|veth|virbr|podman|cni|flannel|cali)/ { sub(/\\/.*/, "", $4); print "address\\t" $4 }'
ids=$(stack_ps "{{.Label \\"com.docker.compose.project\\"}}$tab{{.ID}}" -a) || return 0
if [ "$project" = "?" ]; then ids=$(printf '%s\\n' "$ids" | cut -f 2)
else ids=$(printf '%s\\n' "$ids" | named_one_of "$(stack_names "$project")")
fi
[ -z "$ids" ] || as_root docker inspect --type container --format '{{.Id}}|{{.Image}}|{{.State.Running}}|{{index .Config.Labels "com.docker.compose.oneoff"}}|{{index .Config.Labels "com.docker.compose.service"}}' $ids 2>/dev/null </dev/null |
sed "s/^/stack$tab/"
}
stack=
[ -z "$planned" ] || stack=$(stack)
wait
printf 'docker\\t%s\\napi\\t%s\\n' "$info" "$api"
[ -z "$stack" ] || printf '%s\\n' "$stack"
[ -w "$near" ] || printf 'readonly\\t%s\\n' "$near"
printf 'free\\t%s\\ndockerfree\\t%s\\n' "$free_here" "$free_there"
printf '%s\\n' "$hashes" | sed "s/^/file$tab/"
printf '%s\\n' "$chains" | sed "s/^/chain$tab/"
sed "s/^/deployed$tab/" "$path/.berth/deployed" 2>/dev/null
for mark in current before; do
{ IFS= read -r current <"$path/.berth/$mark"; } 2>/dev/null || continue
note=$path/.berth/releases/$current/note
! grep "^built$tab" "$note" 2>/dev/null || sed -n "s/^image$tab/builtimage$tab/p" "$note"
break
done
[ ! -f "$path/.berth/bridge" ] || printf 'bridge\\tleft\\n'
exit 0
`
