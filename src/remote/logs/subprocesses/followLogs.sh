# shellcheck shell=sh
# Runs as root if Docker needs it, so that its child processes end with it. Prints the last lines of the containers'
# logs, then every new line, until its input ends.
kind=$1
target=$2
lines=$3
since=$4
# Service of a stack to follow; empty for all services.
only=$5
until=$6
contains=$7
bytes=$8
now=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
case $now in *N*) now=$(date -u +%Y-%m-%dT%H:%M:%SZ) ;; esac
as_root() { "$@"; }
# shellcheck source=../../lib/stackContainers.sh
. "$(dirname "$0")/../lib/stackContainers.sh"
[ "$kind" != stack ] || cd "$target" || exit 1

list() {
  case $kind in
    stack)
      all=$(stack_ps '{{.ID}}|{{.Label "com.docker.compose.oneoff"}}|{{.Label "com.docker.compose.service"}}' -a) || return 1
      printf '%s\n' "$all" | awk -F '|' -v only="$only" 'NF && $2 != "True" && (only == "" || $3 == only) { print $1 }'
      ;;
    *) docker inspect --type container --format '{{.Id}}' "$target" </dev/null ;;
  esac
}
service_of() {
  is=$(docker inspect --type container --format '{{index .Config.Labels "com.docker.compose.service"}}|{{.Name}}' "$1" 2>/dev/null </dev/null)
  service=${is%%|*}
  name=${is#*|/}
  printf '%s\n' "${service:-$name}" | tr -cd 'A-Za-z0-9._\n-'
}
# Lists services with several containers; a container that is being replaced shares its number with the new one.
numbered() {
  [ "$kind" = stack ] || return 0
  stack_ps '{{.Label "com.docker.compose.oneoff"}}|{{.Label "com.docker.compose.service"}}|{{.Label "com.docker.compose.container-number"}}' -a |
    awk -F '|' '$1 != "True" && !(($2, $3) in seen) { seen[$2, $3] = 1; if (++count[$2] == 2) print $2 }'
}
# label_of ID: prints its service, with its number if the service has several containers.
label_of() {
  service=$(service_of "$1")
  if [ -n "$several" ] && printf '%s\n' "$several" | grep -qxF -e "$service"; then
    number=$(docker inspect --type container --format '{{index .Config.Labels "com.docker.compose.container-number"}}' "$1" 2>/dev/null </dev/null)
    service=$service-$(printf '%s' "$number" | tr -cd 0-9)
  fi
  printf '%s\n' "$service"
}
# marked TEXT: prefixes each line of its input with the text, without delay. GNU's sed -u reads byte by byte, which
# takes ten times as long.
if command -v stdbuf >/dev/null 2>&1; then
  marked() { stdbuf -oL sed "s/^/$1/"; }
elif sed -u '' </dev/null 2>/dev/null; then
  marked() { sed -u "s/^/$1/"; }
else
  # busybox's sed has no -u.
  marked() { awk -v by="$1" '{ print by $0; fflush() }'; }
fi
# both SERVICE ARGUMENT…: prints the log of a container, each line prefixed with its stream and service.
both() {
  by=$1
  shift
  {
    { docker logs --timestamps "$@" 2>&1 >&3 3>&- </dev/null | marked "e|$by|" >&4; } 3>&1 |
      marked "o|$by|"
  } 4>&1
}

if ! ids=$(list 2>/dev/null) || [ -z "$ids" ]; then
  # Print Docker's own message if Docker does not respond.
  docker version >/dev/null || exit 1
  echo none
  exit 0
fi
echo following
several=$(numbered 2>/dev/null)

# Docker limits the number of lines before it filters them.
end=$now
tail=$lines
if [ -n "$contains" ]; then lines=10000 tail=200000; fi
past=no
if [ -n "$until" ]; then
  # Times of different precision are compared by their seconds.
  if ! LC_ALL=C expr "${until%%[.Z]*}" '>' "${now%%[.Z]*}" >/dev/null; then past=yes end=$until tail=all; fi
fi
containing() {
  if [ -n "$contains" ]; then LC_ALL=C grep -aiF -e "$contains"; else cat; fi
}
latest() {
  for id in $ids; do
    if [ -n "$since" ]; then both "$(label_of "$id")" --tail "$tail" --since "$since" --until "$end" "$id"
    else both "$(label_of "$id")" --tail "$tail" --until "$end" "$id"
    fi
  done | containing | LC_ALL=C sort -s -t '|' -k 3.1,3.30 | tail -n "$lines" | tail -c "$bytes"
}
# The end of the input means that the reader is gone, so all processes are ended, including those of root.
exec 5<&0
{
  cat <&5 >/dev/null 2>&1
  trap '' TERM
  kill 0
} &
watcher=$!
exec 5<&-

latest
if [ "$past" = yes ]; then
  kill "$watcher" 2>/dev/null
  exit 0
fi
echo live

# follow ID SINCE: follows a log unless it is already followed. A follower whose container has just stopped takes a
# moment to end.
follow() {
  case $1 in "" | *[!0-9a-f]*) return ;; esac
  marked_as=$(label_of "$1")
  eval "follower=\${follower_$1:-}"
  for wait in 0.1 0.2 0.3 0.4; do
    if [ -z "$follower" ] || ! kill -0 "$follower" 2>/dev/null; then break; fi
    sleep "$wait"
    [ "$wait" != 0.4 ] || return
  done
  both "$marked_as" --follow --since "$2" "$1" &
  eval "follower_$1=$!"
}
for id in $ids; do follow "$id" "$now"; done

# Containers that are started later, new or existing ones.
case $kind in
  stack) filter=label=com.docker.compose.project.working_dir ;;
  *) filter=container=$target ;;
esac
docker events --since "$now" --filter type=container --filter event=start --filter "$filter" \
  --format '{{.ID}} {{index .Actor.Attributes "com.docker.compose.project.working_dir"}}' </dev/null |
  while read -r id place; do
    # shellcheck disable=SC3013 # Every shell has it.
    [ "$kind" != stack ] || [ "$place" -ef . ] || continue
    [ -z "$only" ] || [ "$(service_of "$id")" = "$only" ] || continue
    # Its first lines are older than its start event, and newer than the end of its last run.
    ended=$(docker inspect --type container --format '{{.State.FinishedAt}}' "$id" 2>/dev/null </dev/null)
    case $ended in "" | 0001-*) ended=$now ;; esac
    several=$(numbered 2>/dev/null)
    follow "$id" "$ended"
  done
