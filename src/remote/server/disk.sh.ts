// Generated from disk.sh by "npm run scripts".
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
stacks=$HOME/containers
[ -d "$stacks" ] || stacks=$HOME
disk_of containers "$stacks"
root=$(as_root docker info --format '{{.DockerRootDir}}' </dev/null) || exit 3
[ ! -d "$root" ] || disk_of docker "$root"
in_parts() {
awk 'NF { printf "%s%s", $1, ++count % 200 ? " " : "\\n" } END { if (count % 200) print "" }' | while IFS= read -r part; do
"$@" $part 2>/dev/null </dev/null
done
}
images=$(docker_images -q --no-trunc) || exit 3
printf '%s\\n' "$images" | sort -u | in_parts as_root docker image inspect --format \\
"image$tab{{.Id}}$tab{{.Size}}$tab{{.Created}}$tab{{.Metadata.LastTagTime}}$tab{{.Parent}}$tab"'{{range .RepoTags}}{{.}} {{end}}'"$tab"'{{range .RepoDigests}}{{.}} {{end}}'
containers=$(as_root docker ps -aq --no-trunc </dev/null) || exit 3
printf '%s\\n' "$containers" | in_parts as_root docker inspect --type container --format \\
"container$tab{{.Id}}$tab{{.Name}}$tab{{.Image}}$tab"'{{json (index .Config.Labels "com.docker.compose.project.working_dir")}}'"$tab{{.HostConfig.LogConfig.Type}}$tab"'{{index .HostConfig.LogConfig.Config "max-size"}}'"$tab"'{{index .HostConfig.LogConfig.Config "max-file"}}'"$tab"'{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}} {{end}}{{end}}'
volumes=$(as_root docker volume ls -q </dev/null) || exit 3
changed_at() {
while IFS="$tab" read -r name mount; do
printf 'volume\\t%s\\t%s\\n' "$name" "$(as_root stat -c %Y "$mount" 2>/dev/null </dev/null)"
done
}
printf '%s\\n' "$volumes" | in_parts as_root docker volume inspect --format "{{.Name}}$tab{{.Mountpoint}}" | changed_at
printf '%s\\n' "$containers" | in_parts as_root docker inspect --type container --format '{{.LogPath}}' | grep '^/' |
in_parts as_root sh -c 'for log do
total=0
for file in "$log" "$log".*; do
if [ -f "$file" ]; then size=$(stat -c %s "$file") && total=$((total + size)); fi
done
id=\${log%/*}
[ ! -f "$log" ] || printf "log\\t%s\\t%s\\n" "$total" "\${id##*/}"
done' sh
number=0
berth_directories | while IFS= read -r directory; do
number=$((number + 1))
cd "$directory" 2>/dev/null || continue
hash=$(prefix_here)
hash=\${hash#berth/release:}
printf 'directory\\t%s\\t%s\\t%s\\n' "$number" "\${hash%-}" "$directory"
current=
[ ! -f .berth/current ] || IFS= read -r current <.berth/current
for note in .berth/releases/[0-9]*/note; do
[ -f "$note" ] || continue
release=\${note%/note}
release=\${release##*/}
marker=
[ "$release" != "$current" ] || marker=current
printf 'release\\t%s\\t%s\\t%s\\n' "$number" "$release" "$marker"
awk -F '\\t' -v number="$number" -v release="$release" '
$1 == "image" { printf "needs\\t%s\\t%s\\t%s\\t%s\\t%s\\n", number, release, $2, $3, $4 }' "$note"
done
[ ! -f .berth/leaving ] || awk '/^sha256:/ { id = $1; sub(/^[^ ]* ?/, ""); printf "leaves\\t%s\\t%s\\n", id, $0 }' .berth/leaving
kib() { du -sk "$1" 2>/dev/null | cut -f 1; }
printf 'kept\\t%s\\t%s\\t%s\\n' "$number" "$(kib .berth/releases)" "$(kib .berth/backups)"
done
set -- as_root
! command -v timeout >/dev/null || set -- as_root timeout 60
"$@" docker system df -v --format '{{range .Images}}unique'"$tab{{.ID}}$tab{{.UniqueSize}}"'
{{end}}{{range .Volumes}}size'"$tab{{.Name}}$tab{{.Size}}"'
{{end}}{{range .BuildCache}}cache'"$tab{{.ID}}$tab{{.Size}}$tab{{.InUse}}$tab{{.LastUsedAt}}$tab{{.Parent}}"'
{{end}}' 2>/dev/null </dev/null
exit 0
`
