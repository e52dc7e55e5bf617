// Generated from sample.sh by "npm run scripts".
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
docker_stats() {
list='' said='' left=$1
while [ "$left" -gt 0 ]; do
left=$((left - 1))
list=$(as_root docker ps --no-trunc --format "$3" </dev/null) || return 1
[ -n "$list" ] || return 0
list=$(printf '%s\\n' "$list" | head -n "$2")
said=$(as_root docker stats --no-stream --no-trunc --format "usage|$4" $(printf '%s\\n' "$list" | cut -d '|' -f 1) 2>&1 </dev/null) && return 0
done
printf '%s\\n' "$said" >&2
return 1
}
stacks=$HOME/containers
[ -d "$stacks" ] || stacks=$HOME
disk_of containers "$stacks"
docker_stats 3 500 '{{.ID}}|{{.Label "com.docker.compose.service"}}|{{.Names}}' '{{.ID}}|{{.CPUPerc}}|{{.MemUsage}}|{{.NetIO}}|{{.BlockIO}}' || exit 3
root=$(as_root docker info --format '{{.DockerRootDir}}' 2>/dev/null </dev/null)
[ ! -d "$root" ] || disk_of docker "$root"
[ -z "$list" ] || printf '%s\\n' "$list" | sed 's/^/container|/'
[ -z "$list" ] || printf '%s\\n' "$said"
exit 0
`
