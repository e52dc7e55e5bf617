// Generated from prune.sh by "npm run scripts".
export const script = `LC_ALL=C
export LC_ALL
disk_of() {
df -Pk "$2" 2>/dev/null | awk -v kind="$1" 'NR > 1 {
for (i = 5; i <= NF; i++) if ($i ~ /^[0-9]+%$/) {
mount = match($0, /[0-9]+% +\\//) ? substr($0, RSTART) : ""
sub(/^[0-9]+% +/, "", mount)
printf "disk\\t%s\\t%s\\t%s\\t%s\\n", kind, $(i - 3), $(i - 1), mount
exit
}
}'
df -Pi "$2" 2>/dev/null | awk -v kind="$1" 'NR > 1 {
for (i = 5; i <= NF; i++) if ($i ~ /^[0-9]+%$/ && $(i - 3) > 0) {
printf "inodes\\t%s\\t%s\\t%s\\n", kind, $(i - 3), $(i - 1)
exit
}
}'
}
[ ! -r /proc/loadavg ] ||
printf 'load\\t%s\\t%s\\n' "$(cut -d ' ' -f 1 /proc/loadavg)" "$(grep -c '^processor' /proc/cpuinfo 2>/dev/null)"
[ ! -r /proc/meminfo ] ||
awk '/^MemTotal:/ { all = $2 } /^MemAvailable:/ { free = $2 } END { printf "memory\\t%s\\t%s\\n", all, free }' /proc/meminfo
stack_directories() {
{
for directory in "$HOME"/containers/*/ "$HOME"/containers/.[!.]*/; do printf '%s\\n' "$directory"; done
as_root docker ps -a --format '{{.Label "com.docker.compose.project.working_dir"}}' </dev/null
while IFS= read -r given; do printf '%s\\n' "$(path_of "$given")"; done
} | LC_ALL=C sort -u | while IFS= read -r directory; do
case $directory in /*) ;; *) continue ;; esac
(cd "$directory" 2>/dev/null && pwd -P)
done | LC_ALL=C sort -u
}
berth_directories() {
stack_directories | while IFS= read -r directory; do
[ ! -d "$directory/.berth" ] || printf '%s\\n' "$directory"
done
}
tab=$(printf '\\t')
input=$(cat)
lines_of() { printf '%s\\n' "$input" | sed -n "s/^$1$tab//p"; }
root=$(as_root docker info --format '{{.DockerRootDir}}' </dev/null) || exit 3
command -v flock >/dev/null || { echo "flock is missing: install util-linux" >&2; exit 1; }
directories=$(lines_of path | berth_directories)
trap '' HUP PIPE TERM
berth_ignores=yes
free_space() { [ ! -d "$root" ] || disk_of docker "$root" | sed -n "s/^disk$tab.*$tab\\([0-9]*\\)$tab\\/.*/\\1/p"; }
skip() { printf 'skipped\\t%s\\t%s\\t%s\\n' "$1" "$2" "$(printf '%s\\n' "$3" | tail -n 1 | cut -c 1-300)"; }
needed_images() {
printf '%s\\n' "$directories" | while IFS= read -r directory; do
for note in "$directory"/.berth/releases/[0-9]*/note; do
[ -f "$note" ] || continue
release=\${note%/note}
release=\${release##*/} directory=$directory awk -F '\\t' '
$1 == "image" { print $2 " release " ENVIRON["release"] " of " ENVIRON["directory"] " needs it" }' "$note"
done
done
}
prune_image() {
id=$1 planned=$2
tags=$(as_root docker image inspect --format '{{range .RepoTags}}{{.}} {{end}}' "$id" 2>/dev/null </dev/null) ||
{ skip image "$id" "it is no longer there"; return; }
reason=$(printf '%s\\n' "$needed" | sed -n "s/^$id //p" | head -n 1)
[ -z "$reason" ] || { skip image "$id" "$reason"; return; }
for tag in $tags; do
case " $planned " in
*" $tag "*) ;;
*) skip image "$id" "it has been named $tag since"; return ;;
esac
done
users=$(as_root docker ps -a --filter "ancestor=$id" --format '{{.Names}}' 2>&1 </dev/null) ||
{ skip image "$id" "its containers cannot be listed: $users"; return; }
[ -z "$users" ] || { skip image "$id" "the container $(printf '%s\\n' "$users" | head -n 1) uses it"; return; }
said=$(as_root docker rmi \${tags:-"$id"} 2>&1 </dev/null) && said="another image was built on it"
if as_root docker image inspect --format '{{.Id}}' "$id" >/dev/null 2>&1 </dev/null; then
for tag in $tags; do as_root docker tag "$id" "$tag" >/dev/null 2>&1 </dev/null; done
skip image "$id" "$said"
else printf 'removed\\timage\\t%s\\n' "$id"
fi
}
prune_cache() {
if said=$(as_root docker builder prune -f --filter "id=$1" 2>&1 </dev/null); then
case $said in
*"$1"*) printf 'removed\\tcache\\t%s\\n' "$1" ;;
*) skip cache "$1" "it is in use, or no longer there" ;;
esac
else skip cache "$1" "$said"
fi
}
prune_volume() {
as_root docker volume inspect "$1" >/dev/null 2>&1 </dev/null || { skip volume "$1" "it is no longer there"; return; }
users=$(as_root docker ps -a --filter "volume=$1" --format '{{.Names}}' 2>&1 </dev/null) ||
{ skip volume "$1" "its containers cannot be listed: $users"; return; }
[ -z "$users" ] || { skip volume "$1" "the container $(printf '%s\\n' "$users" | head -n 1) uses it"; return; }
if said=$(as_root docker volume rm "$1" 2>&1 </dev/null); then printf 'removed\\tvolume\\t%s\\n' "$1"
else skip volume "$1" "$said"
fi
}
prune_all() {
needed=$(needed_images)
before=$(free_space)
lines_of image | while IFS="$tab" read -r id names; do prune_image "$id" "$names"; done
lines_of cache | while IFS= read -r id; do prune_cache "$id"; done
lines_of volume | while IFS= read -r name; do prune_volume "$name"; done
after=$(free_space)
[ -z "$before" ] || [ -z "$after" ] || printf 'freed\\t%s\\n' "$((after - before))"
printf '%s\\n' "$directories" | while IFS= read -r directory; do
[ ! -f "$directory/.berth/holder" ] || touch "$directory/.berth/holder" 2>/dev/null
done
}
hold() {
[ "$#" -gt 0 ] || { prune_all; return; }
(
held_in=$1
shift
if [ -w "$held_in/.berth" ] && { [ ! -e "$held_in/.berth/activation" ] || [ -w "$held_in/.berth/activation" ]; }; then
exec 8>>"$held_in/.berth/activation"
if ! flock -n 8 || { [ -e "$held_in/.berth/lock" ] && ! flock -n "$held_in/.berth/lock" true; }; then
printf 'busy\\t%s\\n' "$held_in"
exit 75
fi
fi
hold "$@"
)
}
set -f
IFS='
'
set -- $directories
set +f
unset IFS
hold "$@"
`
