// Generated from backup.sh by "npm run scripts".
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
sudo_text='unset berth_password berth_ignores
IFS= read -r berth_password || :
berth_user=$(id -u)
as_root() {
if [ "$berth_user" = 0 ]; then
"$@"
elif [ -z "$berth_password" ]; then
LC_ALL=C sudo -n "$@"
else
berth_sudo "$@"
fi
}
berth_sudo() (
berth_umask=$(umask)
umask 077
berth_dir=
berth_clean='\\''trap "" HUP INT TERM; [ -z "$berth_dir" ] || rm -rf "$berth_dir"'\\''
{
trap "$berth_clean" EXIT
[ -n "\${berth_ignores:-}" ] || trap "$berth_clean; exit 129" HUP
trap "$berth_clean; exit 130" INT
[ -n "\${berth_ignores:-}" ] || trap "$berth_clean; exit 143" TERM
}
berth_dir=$(
trap '\\'''\\'' HUP INT TERM
mktemp -d "$HOME/.berth.XXXXXX" 2>/dev/null || mktemp -d /tmp/.berth.XXXXXX
) || exit 1
printf '\\''%s\\n'\\'' '\\''#!/bin/sh'\\'' '\\''rm -f "$0"'\\'' '\\''printf "%s\\n" "$BERTH_PASSWORD"'\\'' >"$berth_dir/askpass" || exit 1
chmod 700 "$berth_dir/askpass"
umask "$berth_umask"
BERTH_PASSWORD=$berth_password SUDO_ASKPASS=$berth_dir/askpass LC_ALL=C sudo -A "$@"
exit $?
)'
guard_text='known_compose() { return 1; }
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
docker_ids() {
stack_ps '\\''{{.ID}} {{.Label "com.docker.compose.oneoff"}} {{.Status}}'\\'' -a --filter "label=com.docker.compose.service=$1" |
awk '\\''$2 != "True"'\\''
}
is_up() { docker_ids "$1" | awk '\\''$3 == "Up" { up = 1 } END { exit !up }'\\''; }
act_on() {
act=$1
act_file=$2
shift 2
if [ -z "$(stack_foreign)" ]; then compose_stack "$act_file" "$act" "$@" </dev/null; return; fi
as_root docker "$act" $(for service do docker_ids "$service" | cut -d '\\'' '\\'' -f 1; done) </dev/null
}
start_stopped() {
[ -s .berth/stopped ] || { rm -f .berth/stopped; return 0; }
{ IFS= read -r compose_kind && IFS= read -r stopped_file; } <.berth/stopped
stopped_services=$(tail -n +3 .berth/stopped | tr '\\''\\n'\\'' '\\'' '\\'')
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
echo "so$down did not start again: $(printf '\\''%s\\n'\\'' "$start_words" | tail -n 1)"
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
trap '\\'''\\'' HUP INT PIPE TERM
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
done'
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
backups=.berth/backups
tell() { printf "$@" 2>/dev/null || :; }
because() { printf 'why\\t%s\\n' "$*" | tr -d '\\r' | cut -c 1-1500; }
backup_numbers() {
for whole in "$backups"/[0-9]*/manifest; do
whole=\${whole%/manifest}
[ ! -f "$whole/manifest" ] || printf '%s\\n' "\${whole##*/}"
done | sort -rn
}
field() { about item | awk -F '\\t' -v name="$1" -v number="$2" '$1 == name { print $number }'; }
run_in() {
run_container=$1
run_key=$2
run_item=$3
set --
while IFS= read -r run_word; do
[ -z "$run_word" ] || set -- "$@" "\${run_word#x}"
done <<WORDS
$(about "$run_key" | awk -F '\\t' -v name="$run_item" '$1 == name { sub(/^[^\\t]*\\t/, ""); print }')
WORDS
as_root docker exec -i "$run_container" "$@"
}
start_guard() {
in_session=setsid
command -v setsid >/dev/null || in_session=
guard_prefix='as_root() { "$@"; }'
! command -v berth_sudo >/dev/null || guard_prefix=$sudo_text
printf '%s\\n' "\${berth_password:-}" | (
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
exec $in_session sh -c "$guard_prefix
$guard_text" sh "$here"
) >/dev/null 2>&1 &
}
stop_services() {
[ "$1" != - ] || return 0
to_stop=
for service in $(printf '%s\\n' "$1" | tr ',' ' '); do
! is_up "$service" || to_stop="$to_stop $service"
done
[ -n "$to_stop" ] || return 0
noted=$(tail -n +3 .berth/stopped 2>/dev/null)
printf '%s\\n' "$compose_kind" "$backup_file" $noted $to_stop | cat >.berth/stopped 2>/dev/null || { because "so .berth/stopped could not be noted: is the disk full?"; rm -f .berth/stopped; return 1; }
start_guard
said=$(act_on stop "$backup_file" $to_stop 2>&1) || {
because "$to_stop could not be stopped: $(printf '%s\\n' "$said" | tail -n 1)"
start_stopped >/dev/null
return 1
}
}
compute_sha256() {
if command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r; else sha256sum; fi
}
stream() {
out=$1
shift
told=$(
exec 6>&- 7>&- 8>&-
{
{
{ "$@" 2>&4 </dev/null; printf 'dump %s\\n' "$?" >&3; } |
{ gzip -1 2>&4; printf 'pack %s\\n' "$?" >&3; } |
{ tee "$out" 2>&4; printf 'write %s\\n' "$?" >&3; } |
{ compute_sha256 | sed 's/ .*//; s/^/sum /' >&3; }
} 4>&1 | tail -n 5 | cut -c 1-400 | sed 's/^/said /' >&3
} 3>&1
)
sum=$(printf '%s\\n' "$told" | sed -n 's/^sum //p')
words=$(printf '%s\\n' "$told" | sed -n 's/^said //p' | tail -n 3 | tr '\\n' ' ')
dump_code=$(printf '%s\\n' "$told" | sed -n 's/^dump //p')
write_codes=$(printf '%s\\n' "$told" | sed -n -e 's/^pack //p' -e 's/^write //p' | tr '\\n' ' ')
}
volume_named() {
volume=$(as_root docker volume ls -q --filter "label=com.docker.compose.project=$project" --filter "label=com.docker.compose.volume=$1" </dev/null | head -n 1)
[ -z "$volume" ] || return 0
volume=$(as_root docker inspect --type container --format '{{range .Mounts}}{{if eq .Type "volume"}}{{println .Name}}{{end}}{{end}}' $(all_containers) 2>/dev/null </dev/null | grep -xF -e "$1" | head -n 1)
[ -n "$volume" ]
}
all_containers() { stack_ps '{{.ID}}' -a; }
known_volumes() {
as_root docker volume ls --filter "label=com.docker.compose.project=$project" --format '{{.Label "com.docker.compose.volume"}}' </dev/null | sort -u | head -n 20 | tr '\\n' ' ' | sed -e 's/ $//' -e 's/ /, /g'
}
read_volume() {
data=$(as_root docker volume inspect --format '{{if not .Options}}{{.Mountpoint}}{{end}}' "$volume" </dev/null)
if [ -n "$data" ] && as_root test -r "$data/." </dev/null; then
if tar --version 2>/dev/null | grep -q GNU; then as_root tar --numeric-owner -S -C "$data" -cf - .
else as_root tar -C "$data" -cf - .
fi
return
fi
for id in $(all_containers); do
place=$(as_root docker inspect --type container --format '{{range .Mounts}}{{if eq .Type "volume"}}{{println .Name .Destination}}{{end}}{{end}}' "$id" </dev/null | awk -v name="$volume" '$1 == name { sub(/^[^ ]* /, ""); print; exit }')
[ -n "$place" ] || continue
as_root docker cp "$id:$place/." -
return
done
echo "no container has the volume $volume, and without root it cannot be read" >&2
return 1
}
take_item() {
item=$1
target=$(field "$item" 3)
began=$(date +%s)
data_file=$backups/.new/$item.gz
case $(field "$item" 2) in
exec)
container=$(docker_ids "$target" | awk '$3 == "Up" { print $1; exit }')
if [ -z "$container" ]; then
if [ -n "$lenient" ] && [ -z "$(docker_ids "$target")" ]; then
tell 'skipped\\t%s\\t%s has no container yet\\n' "$item" "$target"
return 0
fi
because "$item: the service $target does not run, so nothing can be dumped in it"
return 1
fi
stream "$data_file" run_in "$container" word "$item" ;;
volume)
if ! volume_named "$target"; then
if [ -n "$lenient" ]; then
tell 'skipped\\t%s\\tthere is no volume %s yet\\n' "$item" "$target"
return 0
fi
has=$(known_volumes)
because "$item: the stack has no volume $target here. It has: \${has:-none}"
return 1
fi
stream "$data_file" read_volume
if [ "$dump_code" = 1 ] && [ "$(field "$item" 4)" = - ] && printf '%s' "$words" | grep -q 'file changed as we read it'; then
tell 'remark\\t%s\\tfiles changed while they were copied: name under "stop" the services that write them\\n' "$item"
dump_code=0
fi ;;
esac
case $write_codes in
"0 0 ") ;;
*) because "$item could not be written: \${words:-is the disk full?}"; return 1 ;;
esac
[ "\${#sum}" = 64 ] || { because "$item: its hash could not be computed: \${words:-no reason was given}"; return 1; }
case $dump_code in 126 | 127) words=$words$(gzip -dc "$data_file" | head -c 300 | tr '\\r\\n' '  ') ;; esac
[ "$dump_code" = 0 ] || { because "$item: the dump ended with exit code \${dump_code:-unknown}: \${words:-it printed no reason}"; return 1; }
if [ "$(field "$item" 5)" != yes ] && is_nothing; then
if [ -n "$lenient" ]; then
rm -f "$data_file"
tell 'skipped\\t%s\\tit is empty\\n' "$item"
return 0
fi
because "$item is empty, which is hardly meant; allowEmpty: true keeps such a backup"
return 1
fi
if [ -n "$(about check | awk -F '\\t' -v name="$item" '$1 == name')" ]; then
said=$( (exec 6>&- 7>&- 8>&-; gzip -dc "$data_file" | run_in "$container" check "$item") 2>&1) || {
because "$item: what was dumped cannot be read: $(printf '%s\\n' "$said" | tail -n 1)"
return 1
}
fi
bytes=$(($(wc -c <"$data_file")))
seconds=$(($(date +%s) - began))
printf 'data\\t%s\\t%s\\t%s\\t%s\\t%s\\n' "$item" "$item.gz" "$bytes" "$sum" "$seconds" >>"$backups/.new/manifest" || { because "the backup's manifest could not be written"; return 1; }
case $volume in ?*) printf 'volume\\t%s\\t%s\\n' "$item" "$volume" >>"$backups/.new/manifest" ;; esac
tell 'taken\\t%s\\t%s\\t%s\\n' "$item" "$bytes" "$seconds"
}
is_nothing() {
[ "$(gzip -dc "$data_file" 2>/dev/null | head -c 1 | wc -c)" -gt 0 ] || return 0
[ "$(field "$item" 2)" = volume ] || return 1
[ "$(gzip -dc "$data_file" 2>/dev/null | head -c 65536 | tar -tf - 2>/dev/null | head -n 2 | wc -l)" -lt 2 ]
}
take_backup() {
here=$(pwd -P)
(umask 077; mkdir -p "$backups") && chmod 700 "$backups" || { because "$here/$backups could not be made"; return 1; }
exec 7>>.berth/stopping || { because "$here/.berth cannot be written"; return 1; }
flock -w 300 7 || { because "an earlier backup or restore here has not ended"; return 1; }
swap_back || { because "what an earlier restore has replaced could not be put back in $here"; return 1; }
restarted=$(start_stopped) || { because "$restarted"; return 1; }
rm -rf "$backups/.new"
backup_file=$(stack_file compose.yml)
project=$(stack_ps '{{.Label "com.docker.compose.project"}}' -a | sort -u | head -n 1)
if [ -z "$project" ] || [ -z "$backup_file" ]; then
[ -z "$lenient" ] || { tell 'nothing\\n'; return 0; }
because "no stack has containers in $here"
return 1
fi
umask 077
mkdir "$backups/.new" || { because "$here/$backups cannot be written"; return 1; }
{
printf 'at\\t%s\\ntrigger\\t%s\\nrun\\t%s\\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "\${run:-}"
printf 'release\\t%s\\n' "$(head -n 1 .berth/current 2>/dev/null)"
grep "^image$tab" ".berth/releases/$(head -n 1 .berth/current 2>/dev/null)/note" 2>/dev/null
about note
} | cat >"$backups/.new/manifest" || { because "the backup's manifest could not be written: is the disk full?"; rm -rf "$backups/.new"; return 1; }
failed_at=
for stops in $(about item | cut -f 4 | sort -u); do
stop_services "$stops" || { failed_at=yes; break; }
for name in $(about item | awk -F '\\t' -v stops="$stops" '$4 == stops { print $1 }'); do
volume=
take_item "$name" || { failed_at=yes; break; }
done
restarted=$(start_stopped) || { because "$restarted"; failed_at=yes; }
[ -z "$failed_at" ] || break
done
if [ -n "$failed_at" ]; then rm -rf "$backups/.new"; return 1; fi
if ! grep -q "^data$tab" "$backups/.new/manifest"; then
rm -rf "$backups/.new"
tell 'nothing\\n'
return 0
fi
number=$({ backup_numbers; cat "$backups/last"; } 2>/dev/null | awk '$1 + 0 > last { last = $1 + 0 } END { print last + 1 }')
sync "$backups/.new"/* 2>/dev/null
{ printf '%s\\n' "$number" | cat >"$backups/last" && mv "$backups/.new" "$backups/$number"; } 2>/dev/null ||
{ because "the backup could not be given its number"; rm -rf "$backups/.new"; return 1; }
tell 'backup\\t%s\\n' "$number"
}
trap '' HUP PIPE TERM
berth_ignores=yes
trigger=$2
run=$3
case $trigger in deploy) lenient=yes ;; *) lenient= ;; esac
tab=$(printf '\\t')
cd "$(path_of "$1")" 2>/dev/null || { because "there is no directory $1"; exit 1; }
manifest=$(cat)
case $manifest in *"\${tab}end") ;; *) because "the connection broke before anything was changed"; exit 1 ;; esac
about() { printf '%s\\n' "$manifest" | sed -n "s/^$1$tab//p"; }
drop_old() {
keep_backups=$(about keepBackups | grep -x '[1-9][0-9]*')
[ -n "$keep_backups" ] || return 0
newer_items=' '
backups_kept=0
for old_backup in $(backup_numbers); do
is_last=
for name in $(awk -F '\\t' '$1 == "data" { print $2 }' "$backups/$old_backup/manifest"); do
case $newer_items in *" $name "*) ;; *) is_last=yes; newer_items="$newer_items$name " ;; esac
done
backups_kept=$((backups_kept + 1))
if [ "$backups_kept" -le "$keep_backups" ] || [ -n "$is_last" ]; then continue; fi
rm -rf "\${backups:?}/$old_backup"
tell 'dropped\\t%s\\n' "$old_backup"
done
}
as_root docker version --format '{{.Server.Version}}' </dev/null >/dev/null || exit 1
find_compose
(umask 077; mkdir -p .berth) || exit 1
if [ -z "$lenient" ]; then
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { because "a deploy to this directory has not ended"; exit 1; }
fi
take_backup "$trigger" || exit 1
drop_old
`
