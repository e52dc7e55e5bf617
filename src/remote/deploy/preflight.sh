#!/bin/sh
# preflight.sh DIRECTORY THOROUGH LAYERS FILES THROUGH-SUDO MOST COMPOSE-FILE PROJECT NAME…: prints everything that a
# deploy needs to know about the server, one fact per line: Docker, compose, disks, the ports that containers publish,
# the images with these names, and files, whose NUL-terminated names are on stdin: a name that begins with `?` is only
# looked for. Directories in the place of files are told.
# Four arguments are yes or no: THOROUGH runs docker-compose 1.x for its version, LAYERS lists the layers of at most
# MOST images, FILES hashes the files, and THROUGH-SUDO says that as_root uses sudo. For a plan, COMPOSE-FILE is not
# empty: then also prints the current release, the containers of the directory, the texts of that file and .env, and
# the addresses of the server.
# PROJECT is the name of the stack, empty if compose derives it from the directory, and `?` for whichever its containers
# have: containers of other directories whose stack has that name are told, and those of this directory whose stack has
# another one.
# Compose is the slowest to answer, so it runs in parallel. Its facts from the last deploy are reused while the program
# is the same; a docker-compose written in Python is taken for 1.x without running it.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/images.sh"
. "$(dirname "$0")/../lib/revision.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
tab=$(printf '\t')
path=$(path_of "$1")
printf 'revision\t%s\n' "$(deploy_revision "$path/.berth")"
home=$(cd "$path" 2>/dev/null && pwd -P) && printf 'home\t%s\n' "$home"
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
  printf 'compose\t%s\t%s\n' "$compose_kind" "$compose_version"
  name_ids "$@" | sed "s/^/image$tab/"
  # Ports of containers without a stack, too.
  # shellcheck disable=SC2034 # For these functions.
  stack_here=$path
  others=$(stack_places "{{.Label \"com.docker.compose.project\"}}$tab{{.Names}}$tab{{.Ports}}" -a 2>/dev/null)
  case $project in
    "?") names=$(printf '%s\n' "$others" | sed -n 's/^\.	\([^	]*\)	.*/\1/p' | sort -u | grep . || stack_names) ;;
    *) names=$(stack_names "$project") ;;
  esac
  printf '%s\n' "$others" | here=$path awk -F '\t' -v names="$(printf '%s\n' "$names" | tr '\n' ' ')" '
    BEGIN { for (at = split(names, all, " "); at > 0; at--) is[all[at]] = 1 }
    $1 == "." && $2 in is { next }
    $1 == "." { $1 = ENVIRON["here"]; print "apart\t" $1 "\t" $3 "\t" $2 }
    $4 != "" { print "port\t" $3 "|" $4 "|" $1 }'
  printf '%s\n' "$others" | foreign_among "$names" | sed "s/^/foreign$tab/"
}
# With sudo, one command runs first and alone, so that a wrong password is a single attempt.
[ "$through_sudo" = yes ] || beside "$@" </dev/null &
info=$(as_root docker info --format '{{.ServerVersion}}|{{.Driver}}|{{json .DriverStatus}}|{{.OSType}}/{{.Architecture}}|{{.DockerRootDir}}' </dev/null) || { wait; exit 3; }
[ "$through_sudo" = no ] || beside "$@" </dev/null &
# API version of the Docker client, as negotiated with the engine.
api=
case $layers:$info in yes:*io.containerd.snapshotter*) api=$(as_root docker version --format '{{.Client.APIVersion}}' 2>/dev/null </dev/null) ;; esac
free() { df -Pk "$1" 2>/dev/null | awk 'END { print $(NF - 2) }'; }
near=$path
while [ ! -d "$near" ]; do near=$(dirname "$near"); done
free_here=$(free "$near")
root=${info##*|}
free_there=
[ ! -d "$root" ] || free_there=$(free "$root")
hashes=
# shellcheck disable=SC2016 # The other shell expands it.
[ "$files" = no ] || hashes=$(cd "$path" 2>/dev/null && xargs -0 sh -c '
  sha256sum "$@" 2>/dev/null
  for name do
    case $name in
      "?"*) [ ! -e "${name#?}" ] || [ -d "${name#?}" ] || printf "other  %s\n" "${name#?}"; name=${name#?} ;;
    esac
    [ ! -d "$name" ] || printf "directory  %s\n" "$name"
  done' sh)
chains=
if [ "$layers" = yes ]; then
  # Images of releases come first, those of this directory before others: they are often old, but the likeliest to be
  # deployed again. Skips images that are being loaded, which may lack layers.
  own=$(cd "$path" 2>/dev/null && prefix_here)
  ids=$(docker_images --no-trunc --format '{{.ID}} {{.Repository}}:{{.Tag}}' | awk -v most="$most" -v own="${own:-/}" '
    $2 ~ /^berth\/incoming:/ { next }
    {
      rank = index($2, own) == 1 ? 2 : $2 ~ /^berth\/release:/
      ids[++count] = $1
      if (rank > ranks[$1]) ranks[$1] = rank
    }
    END {
      for (pass = 2; pass >= 0; pass--) for (i = 1; i <= count; i++)
        if (ranks[ids[i]] + 0 == pass && !seen[ids[i]]++ && most-- > 0) print ids[i]
    }')
  # shellcheck disable=SC2086 # A list of ids.
  [ -z "$ids" ] || chains=$(as_root docker image inspect --format '{{.Id}} {{json .RootFS.Layers}}' "$@" $ids 2>/dev/null </dev/null)
fi
# told KEY FILE: prints the unchanged lines of a file, prefixed with KEY.
told() { [ ! -f "$2" ] || { head -c 1048577 "$2" && echo; } 2>/dev/null | sed "s/^/$1$tab/"; }
stack() {
  cd "$path" 2>/dev/null || return 0
  IFS= read -r current 2>/dev/null <.berth/current && printf 'current\t%s\n' "$current"
  # The files of the version that is there; without a note of them, those that the caller asks for.
  noted() { sed -n "s/^$1$tab//p" .berth/stack 2>/dev/null; }
  number=0
  { noted compose | grep . || printf '%s\n' "$planned"; } | while IFS= read -r name; do
    number=$((number + 1))
    told "composefile$number" "./$name"
  done
  { noted variables | grep . || echo .env; } | while IFS= read -r name; do told env "./$name"; done
  # Skips networks of containers, whose addresses are the same on many servers.
  PATH=$PATH:/usr/sbin:/sbin ip -o addr show scope global 2>/dev/null </dev/null |
    awk '$2 !~ /^(docker|br-|veth|virbr|podman|cni|flannel|cali)/ { sub(/\/.*/, "", $4); print "address\t" $4 }'
  ids=$(stack_ps "{{.Label \"com.docker.compose.project\"}}$tab{{.ID}}" -a) || return 0
  if [ "$project" = "?" ]; then ids=$(printf '%s\n' "$ids" | cut -f 2)
  else ids=$(printf '%s\n' "$ids" | named_one_of "$(stack_names "$project")")
  fi
  # shellcheck disable=SC2086 # A list of ids.
  [ -z "$ids" ] || as_root docker inspect --type container --format '{{.Id}}|{{.Image}}|{{.State.Running}}|{{index .Config.Labels "com.docker.compose.oneoff"}}|{{index .Config.Labels "com.docker.compose.service"}}' $ids 2>/dev/null </dev/null |
    sed "s/^/stack$tab/"
}
stack=
[ -z "$planned" ] || stack=$(stack)
wait
printf 'docker\t%s\napi\t%s\n' "$info" "$api"
[ -z "$stack" ] || printf '%s\n' "$stack"
[ -w "$near" ] || printf 'readonly\t%s\n' "$near"
printf 'free\t%s\ndockerfree\t%s\n' "$free_here" "$free_there"
printf '%s\n' "$hashes" | sed "s/^/file$tab/"
printf '%s\n' "$chains" | sed "s/^/chain$tab/"
sed "s/^/deployed$tab/" "$path/.berth/deployed" 2>/dev/null
# Images of the current release that were built here: their sources and ids. A deploy that was cut off has moved the mark.
for mark in current before; do
  { IFS= read -r current <"$path/.berth/$mark"; } 2>/dev/null || continue
  note=$path/.berth/releases/$current/note
  ! grep "^built$tab" "$note" 2>/dev/null || sed -n "s/^image$tab/builtimage$tab/p" "$note"
  break
done
[ ! -f "$path/.berth/bridge" ] || printf 'bridge\tleft\n'
exit 0
