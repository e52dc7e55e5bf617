// Generated from stack.sh by "npm run scripts".
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
most_listed=500
at_most() { awk -v kind="$1" -v most="$most_listed" 'NR <= most { print } END { if (NR > most) print "more\\t" kind "\\t" NR - most }'; }
notes() { cat .berth/releases/[0-9]*/note 2>/dev/null; }
brought_files() {
notes | sed -n -e "s/^compose$tab//p" -e "s/^env$tab//p" -e "s/^file$tab//p" -e "s/^large$tab//p"
[ -z "$berths" ] || { printf '%s\\n' "$file"; cat .berth/deployed .berth/archive 2>/dev/null; }
}
brought_there() {
brought_files | LC_ALL=C sort -u | while IFS= read -r name; do
case $name in "" | /* | data | data/* | .. | ../* | */../* | */.. | .berth | .berth/*) continue ;; esac
if [ -f "./$name" ] || [ -L "./$name" ]; then printf '%s\\n' "$name"; fi
done
}
line_break='
'
break_byte=$(printf '\\001')
entries_in() {
{
find "./$1" -mindepth 1 -maxdepth 1 ! -name "*$line_break*" -print 2>/dev/null | head -n 2000
find "./$1" -mindepth 1 -maxdepth 1 -name "*$line_break*" -exec sh -c '
for path do printf "%s" "$path" | tr "\\n" "\\001"; echo; done' sh {} + 2>/dev/null | head -n 100
} | LC_ALL=C sort | while IFS= read -r path; do
entry=./$1/\${path##*/}
case $entry in *"$break_byte"*) entry=$(printf '%s' "$entry" | tr '\\001' '\\n') ;; esac
if [ -L "$entry" ]; then set -- "$1" link; elif [ -d "$entry" ]; then set -- "$1" directory; else set -- "$1" file; fi
printf '%s\\t%s\\n' "$2" "\${path##*/}"
done
}
directory_stays() {
going=$line_break$1$line_break
holding=$(printf '%s\\n' "$1" | awk -F / '
{
at = ""
for (part = 1; part < NF; part++) {
at = at (part > 1 ? "/" : "") $part
if (!(at in seen)) print at
seen[at] = 1
}
}')
{ echo; [ -z "$holding" ] || printf '%s\\n' "$holding" | head -n 200; } | while IFS= read -r over; do
if [ -n "$over" ] && { [ -L "./$over" ] || [ ! -d "./$over" ]; }; then continue; fi
roots=$line_break
[ "$(id -u)" = 0 ] || roots=$line_break$(find "./$over" -mindepth 1 -maxdepth 1 -user 0 ! -name "*$line_break*" -print 2>/dev/null | head -n 2000 | sed 's,.*/,,')$line_break
entries_in "$over" | while IFS=$tab read -r kind entry; do
name=\${over:+$over/}$entry
case $name in .berth) continue ;; esac
case $going in *"$line_break$name$line_break"*) continue ;; esac
if [ "$kind" = directory ]; then
case $line_break$holding$line_break in *"$line_break$name$line_break"*) continue ;; esac
fi
because=foreign
case $roots in *"$line_break$entry$line_break"*) because=root ;; esac
[ "$name" != data ] || because=data
printf 'stays\\t%s\\t%s\\t\\t%s\\n' "$kind" "$because" "$name"
done
done | at_most stays
}
find_images() {
release_prefix=$(prefix_here)
left=$(unused_images " $(numbers | tr '\\n' ' ') ")
held_lines=$(printf '%s\\n' "$1" | awk -v release="$release_prefix" -v kept="$(kept_prefix)" '
index($2, release) == 1 || index($2, kept) == 1')
held=$(printf '%s\\n' "$held_lines" | cut -d ' ' -f 2)
candidates=$({ printf '%s\\n' "$left"; printf '%s\\n' "$held_lines" | cut -d ' ' -f 1; } | awk 'NF && !($1 in seen) { print } NF { seen[$1] = 1 }')
}
image_fates() {
printf '%s\\n' "$candidates" | while IFS= read -r line; do
[ -n "$line" ] || continue
image_fate $line
set -- $line
case $fate in
goes) printf 'goes\\timage\\t%s\\n' "\${2:-$1}" ;;
named | used) printf 'stays\\timage\\t%s\\t%s\\t%s\\n' "$fate" "$fate_by" "\${2:-$1}" ;;
esac
done
notes | awk -F '\\t' -v known=" $(printf '%s\\n' "$candidates" | cut -d ' ' -f 1 | tr '\\n' ' ') " '
$1 == "image" && $4 == "found" && index(known, " " $2 " ") == 0 && !($2 in seen) { seen[$2] = 1; print $2 "\\t" $3 }' |
while IFS=$tab read -r id name; do
printf '%s\\n' "$images_there" | grep -q "^$id " && printf 'stays\\timage\\tforeign\\t\\t%s\\n' "\${name:-$id}"
done
return 0
}
plan_variables() {
stack_variables() {
if [ "$#" -eq 1 ]; then printf '%s\\n' "$1"; return; fi
for name do cat "./$name" && echo || return 1; done >"$plan_temporary" && printf '%s\\n' "$plan_temporary"
}
plan_temporary=$(mktemp) || return 1
trap 'rm -f "$plan_temporary"' EXIT
}
anonymous_volumes() {
[ -n "$1" ] || return 0
as_root docker inspect --format '{{range .Mounts}}{{if eq .Type "volume"}}mount {{.Name}}{{println}}{{end}}{{end}}{{range .HostConfig.Binds}}source {{.}}{{println}}{{end}}{{range .HostConfig.Mounts}}source {{.Source}}{{println}}{{end}}' $1 </dev/null 2>/dev/null |
awk '
$1 == "source" { sub(/:.*/, "", $2); named[$2] = 1 }
$1 == "mount" && length($2) == 64 && $2 !~ /[^0-9a-f]/ { seen[$2] = 1 }
END { for (name in seen) print (name in named ? "stays" : "goes") "\\t" name }' | LC_ALL=C sort -k 2
}
volume_fate() {
user=$(as_root docker ps -a --no-trunc --filter "volume=$1" --format '{{.ID}} {{.Names}}' </dev/null |
awk -v without=" $fate_without " 'index(without, " " $1 " ") == 0 { print $2; exit }')
if [ -n "$user" ]; then printf 'stays\\tvolume\\tused\\t%s\\t%s\\n' "$user" "$1"
else printf 'goes\\tvolume\\t%s\\n' "$1"
fi
}
volume_fates() {
projects=$({ stack_ps '{{.Label "com.docker.compose.project"}}' -a; sed -n "s/^project$tab//p" .berth/stack 2>/dev/null; } | grep . | LC_ALL=C sort -u)
[ -n "$projects" ] || projects=$(stack_names)
made=$(printf '%s\\n' "$projects" | while IFS= read -r project; do
as_root docker volume ls --filter "label=com.docker.compose.project=$project" --format "{{.Label \\"com.docker.compose.volume\\"}}$tab{{.Name}}" </dev/null
done | LC_ALL=C sort -u)
because=unasked
if [ -n "$foreign" ]; then because=shared
elif [ "$volumes" = yes ]; then
because=unnamed
named=
if [ -n "$file" ] && [ -n "$made" ]; then
find_compose
named=$(plan_variables && compose_stack "$file" config --volumes 2>/dev/null </dev/null) || named=$(printf '%s\\n' "$made" | cut -f 1)
fi
fi
printf '%s\\n' "$made" | while IFS=$tab read -r key name; do
if [ -z "$name" ]; then :
elif [ "$because" != unnamed ]; then printf 'stays\\tvolume\\t%s\\t\\t%s\\n' "$because" "$name"
elif ! printf '%s\\n' "$named" | grep -qxF -e "$key"; then printf 'stays\\tvolume\\tunnamed\\t\\t%s\\n' "$name"
else volume_fate "$name"
fi
done
because=unnamed
[ "$volumes" = yes ] || because=unasked
anonymous_volumes "$fate_without" | while IFS=$tab read -r fate name; do
if printf '%s\\n' "$made" | cut -f 2 | grep -qxF -e "$name"; then :
elif [ "$because" = unasked ] || [ "$fate" = stays ] || [ -z "$by_down" ]; then printf 'stays\\tvolume\\t%s\\t\\t%s\\n' "$because" "$name"
else volume_fate "$name"
fi
done
}
find_going() {
by_down=yes
if [ -n "$foreign" ] || [ -z "$file" ]; then by_down=; fi
all=$(stack_ps "{{.ID}} {{.Names}} {{.Label \\"com.docker.compose.oneoff\\"}}" -a) || return 1
fate_without=$(printf '%s\\n' "$all" | awk -v down="$by_down" 'NF && ($3 != "True" || down != "") { printf "%s ", $1 }')
}
volume_ends() {
printf '%s\\n' "$1" | grep '^stays'
planned=$(printf '%s\\n' "$1" | sed -n "s/^goes\${tab}volume$tab//p")
[ -n "$planned" ] || return 0
volumes_there=$(as_root docker volume ls -q </dev/null) || volumes_there=
printf '%s\\n' "$planned" | while IFS= read -r name; do
if printf '%s\\n' "$volumes_there" | grep -qxF -e "$name"; then printf 'stays\\tvolume\\tkept\\t\\t%s\\n' "$name"
else printf 'volume\\t%s\\n' "$name"
fi
done
}
plan_removal() {
for number in $(numbers); do
printf 'release\\t%s\\t%s\\n' "$number" "$(sed -n "s/^at$tab//p" ".berth/releases/$number/note" | head -n 1 | cut -c 1-40)"
done | at_most releases
for manifest in .berth/backups/[0-9]*/manifest; do
[ -f "$manifest" ] || continue
number=\${manifest%/manifest}
case \${number##*/} in *[!0-9A-Za-z.-]*) continue ;; esac
awk -F '\\t' -v number="\${number##*/}" '
$1 == "at" { at = substr($2, 1, 40) }
$1 == "data" { bytes += $4; items = items (items == "" ? "" : ",") $2 }
END { printf "backup\\t%s\\t%s\\t%.0f\\t%s\\n", number, at, bytes, substr(items, 1, 1000) }' "$manifest"
done | sort -t "$tab" -k 2,2 -rn | at_most backups
find_going || return 1
printf '%s\\n' "$all" | awk -v down="$by_down" '
NF { print ($3 == "True" && down == "" ? "stays\\tcontainer\\toneoff\\t\\t" : "goes\\tcontainer\\t") $2 }' | LC_ALL=C sort | at_most containers
brought=$(brought_there)
printf '%s\\n' "$brought" | while IFS= read -r name; do
[ -n "$name" ] || continue
case $name in */*) over=\${name%/*} ;; *) over=. ;; esac
if [ -w "./$over" ]; then printf 'goes\\tfile\\t%s\\n' "$name"; else printf 'stays\\tfile\\tdenied\\t\\t%s\\n' "$name"; fi
done | at_most files
images_there=$(list_images) || return 1
find_images "$images_there"
incoming=
[ ! -s .berth/loading ] || incoming=$(incoming_prefix "$(cat .berth/loading)")
images_there=$(printf '%s\\n' "$images_there" | awk -v release="$release_prefix" -v kept="$(kept_prefix)" -v incoming="$incoming" '
index($2, release) == 1 || index($2, kept) == 1 || (incoming != "" && index($2, incoming) == 1) { $2 = "<none>:<none>" }
{ print }')
image_fates | at_most images
volume_fates | at_most volumes
directory_stays "$brought"
}
action=$1
volumes=$3
cd "$(path_of "$2")" 2>/dev/null || { echo absent; exit 0; }
here=$(pwd -P)
tab=$(printf '\\t')
ids() {
stack_all=$(stack_ps '{{.ID}} {{.Label "com.docker.compose.oneoff"}}' -a) && printf '%s\\n' "$stack_all" | awk 'NF && $2 != "True" { print $1 }'
}
as_root docker version --format '{{.Server.Version}}' </dev/null >/dev/null || exit 1
if [ "$action" = settled ] && [ -e .berth/activation ]; then
exec 8<.berth/activation
flock -w 300 8 || { echo "what goes on in this directory has not ended" >&2; exit 1; }
fi
containers=$(ids) || exit 1
file=$(stack_file compose.yml)
berths=
[ ! -f .berth/deployed ] && [ ! -d .berth/releases ] && [ ! -s .berth/loading ] || berths=yes
case $action:$containers:$file:$berths in
*::*:yes | start::?*: | look::?*: | settled::?*:) ;;
*::*:) echo absent; exit 0 ;;
esac
show() {
inspect $(ids)
}
if [ "$action" = look ] || [ "$action" = settled ]; then
[ -n "$containers" ] || echo empty
show
exit 0
fi
if [ "$action" = plan ]; then
foreign=$(stack_foreign) || exit 1
plan_removal
exit
fi
find_compose
trap '' HUP PIPE TERM
berth_ignores=yes
if [ -d .berth ]; then
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { echo "a deploy to this directory has not ended" >&2; exit 1; }
fi
to_its_end() { said=$("$@" </dev/null 2>&1) || { printf '%s\\n' "$said" >&2; return 1; }; }
by_compose() { to_its_end compose_stack "$file" "$@"; }
by_docker() { [ -z "$containers" ] || to_its_end as_root docker "$@" $containers; }
foreign=$(stack_foreign) || exit 1
stop_all() { by_compose stop && by_docker stop; }
case $action:$foreign:$file in
start:?*:*)
printf '%s\\n' "$foreign" | sed "s/^/foreign$tab/"
show
exit 1 ;;
stop::?*) set -- stop_all ;;
restart::?*) set -- by_compose restart ;;
start::?*) set -- by_compose up -d --no-build --no-recreate ;;
*) set -- by_docker "$action" ;;
esac
if [ "$action" != remove ]; then
case $action:$file in
start:?*) ;;
*) [ -n "$containers" ] || { echo empty; exit 0; } ;;
esac
"$@" || { show; exit 1; }
show
exit 0
fi
find_going || { show; exit 1; }
fates=$(volume_fates)
with_volumes=
[ "$volumes" != yes ] || with_volumes=-v
if [ -n "$foreign" ]; then
[ -z "$with_volumes" ] || printf '%s\\n' "$foreign" | sed "s/^/foreign$tab/"
elif [ -n "$file" ]; then
by_compose down --remove-orphans $with_volumes || { show; exit 1; }
fi
containers=$(ids) || exit 1
by_docker rm -f || { show; exit 1; }
containers=$(ids) || exit 1
[ -z "$containers" ] || { echo "not all containers could be removed" >&2; show; exit 1; }
volume_ends "$fates"
brought=$(brought_there)
directory_stays "$brought"
printf '%s\\n' "$brought" | while IFS= read -r name; do
[ -n "$name" ] || continue
if rm -f "./$name"; then printf 'removed\\t%s\\n' "$name"; else printf 'left\\t%s\\n' "$name"; fi
case $name in */*) rmdir -p "./\${name%/*}" 2>/dev/null ;; esac
done
forget_incoming
images_before=$(list_images)
find_images "$images_before"
[ -z "$held" ] || as_root docker rmi $held </dev/null >/dev/null 2>&1
images_there=$(list_images)
printf '%s\\n' "$left" | while IFS= read -r line; do [ -z "$line" ] || remove_image $line; done
images_now=$(list_images) || images_now=$images_before
printf '%s\\n' "$candidates" | while read -r id name _; do
printf '%s\\n' "$images_before" | grep -q "^$id " || continue
printf '%s\\n' "$images_now" | grep -q "^$id " || printf 'image\\t%s\\n' "\${name:-$id}"
done
images_there=$images_now
image_fates | sed -n '/^stays/p'
rm -rf .berth
cd / && rmdir "$here" 2>/dev/null
exit 0
`
