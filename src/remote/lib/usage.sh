# shellcheck shell=sh
# Prints `load` and `memory` of this server, and defines disk_of, which prints the `disk` and the `inodes` of a
# directory; a file system without a fixed number of inodes has none.
LC_ALL=C
export LC_ALL
disk_of() {
  df -Pk "$2" 2>/dev/null | awk -v kind="$1" 'NR > 1 {
    for (i = 5; i <= NF; i++) if ($i ~ /^[0-9]+%$/) {
      mount = match($0, /[0-9]+% +\//) ? substr($0, RSTART) : ""
      sub(/^[0-9]+% +/, "", mount)
      printf "disk\t%s\t%s\t%s\t%s\n", kind, $(i - 3), $(i - 1), mount
      exit
    }
  }'
  df -Pi "$2" 2>/dev/null | awk -v kind="$1" 'NR > 1 {
    for (i = 5; i <= NF; i++) if ($i ~ /^[0-9]+%$/ && $(i - 3) > 0) {
      printf "inodes\t%s\t%s\t%s\n", kind, $(i - 3), $(i - 1)
      exit
    }
  }'
}
[ ! -r /proc/loadavg ] ||
  printf 'load\t%s\t%s\n' "$(cut -d ' ' -f 1 /proc/loadavg)" "$(grep -c '^processor' /proc/cpuinfo 2>/dev/null)"
[ ! -r /proc/meminfo ] ||
  awk '/^MemTotal:/ { all = $2 } /^MemAvailable:/ { free = $2 } END { printf "memory\t%s\t%s\n", all, free }' /proc/meminfo
