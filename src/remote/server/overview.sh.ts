// Generated from overview.sh by "npm run scripts".
export const script = `tab=$(printf '\\t')
LC_ALL=C
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
stacks=$HOME/containers
[ -d "$stacks" ] || stacks=$HOME
disk_of containers "$stacks"
list=$(as_root docker ps -a --format "container$tab{{.Status}}$tab{{.Ports}}$tab{{.Names}}$tab"'{{.Label "com.docker.compose.project.working_dir"}}' </dev/null) || exit 3
printf 'home\\t%s\\n' "$HOME"
root=$(as_root docker info --format '{{.DockerRootDir}}' 2>/dev/null </dev/null)
[ ! -d "$root" ] || disk_of docker "$root"
list=$(printf '%s\\n' "$list" | grep "$tab/")
printf '%s\\n' "$list"
release_in() {
release=
if [ -f "$1/.berth/current" ] && [ -r "$1/.berth/current" ]; then
release=$(head -c 200 <"$1/.berth/current" | head -n 1)
fi
[ -z "$release" ] || printf 'release\\t%s\\t%s\\n' "$release" "$1"
}
number=0
while IFS= read -r given; do
number=$((number + 1))
real=$(cd "$(path_of "$given")" 2>/dev/null && pwd -P) || continue
printf 'asked\\t%s\\t%s\\n' "$number" "$real"
release_in "$real"
done
printf '%s\\n' "$list" | cut -f 5- | sort -u | while IFS= read -r directory; do
real=$(cd "$directory" 2>/dev/null && pwd -P) || real=$directory
case $real in *"$tab"*) real=$directory ;; esac
[ ! -d "$directory" ] || release_in "$directory"
[ "$real" = "$directory" ] || printf 'link\\t%s\\t%s\\n' "$real" "$directory"
done
exit 0
`
