# shellcheck shell=sh
# Parses the arguments, and records the running containers and the image names, which a failure restores.
# Ignores signals of a lost connection, so that nothing is left half done.
trap '' HUP PIPE TERM
# shellcheck disable=SC2034 # What calls sudo asks for it.
berth_ignores=yes
cd "$(path_of "$1")" || exit 1
compose_kind=$2
compose_version=$3
compose_file=$4
store=$5
source=$6
archive=$7
format=$8
expected=$9
shift 9
run=$1
platform=$2
files_staged=$3
names=$4
shift 4
# Stdin begins with the size of the release's manifest, a line break and the manifest; other parts and an archive may
# follow. read_part: reads such a part.
read_part() {
  part=
  IFS= read -r part_size || :
  case $part_size in "" | 0 | *[!0-9]*) return ;; esac
  part=$(dd "bs=$part_size" "count=1" "iflag=fullblock" 2>/dev/null; echo x)
  part=${part%x}
  # The caller disconnected before the part was complete.
  [ "$(printf '%s' "$part" | wc -c)" -eq "$part_size" ] || { echo "the connection broke before anything was changed" >&2; exit 1; }
}
read_part
manifest=$part
tab=$(printf '\t')
# about KEY: prints the manifest's values for a key, one per line.
about() { printf '%s\n' "$manifest" | sed -n "s/^$1$tab//p"; }
# With a `check` line, what the plan was made of follows, and the functions that compare it: checkCompose.sh.
checking=$(about check)
check_warning=
if [ -n "$checking" ]; then
  read_part
  # shellcheck disable=SC2034 # For these functions.
  check_expected=$part
  read_part
  eval "$part"
fi
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
staged=.berth/staged
previous=.berth/previous
rm -rf "$staged" "$previous"
rm -f .berth/stack.before .berth/remount
# note NAME: saves stdin in .berth. Nothing is started on a full disk, because nothing could be restored without these
# files; cat reports the error if the shell does not.
note() { cat >".berth/$1" || { echo "so .berth/$1 could not be noted" >&2; return 1; }; }
give_up() {
  wait
  rm -rf "$staged" "$previous"
  exit 1
}
wanted=
while [ "$names" -gt 0 ]; do
  wanted="$wanted $1"
  names=$((names - 1))
  shift
done
# Two lists of files, each preceded by its length: files that the project no longer has, and its files for compose.
for list in gone brought; do
  files_left=$1
  shift
  note "$list" </dev/null || exit 1
  while [ "$files_left" -gt 0 ]; do
    printf '%s\n' "$1" >>".berth/$list" || exit 1
    files_left=$((files_left - 1))
    shift
  done
done
# shellcheck disable=SC2086 # A list of names without spaces.
name_ids $wanted </dev/null | note names &
naming=$!
# Remove these first, so that the list of existing images does not include them.
forget_incoming
[ "$source" != incoming ] || printf '%s\n' "$run" | note loading || give_up
# Existing images with their names. All other images from an archive count as brought by Berth.
rm -f .berth/present
listing=
case $source in
  file | part | incoming | whole)
    { list_images | note present; } 2>/dev/null &
    listing=$! ;;
esac
mkdir -p "$previous" || give_up
mv .berth/incoming "$staged" 2>/dev/null || mkdir -p "$staged" || give_up
[ -f "$staged/$compose_file" ] || [ -f "$compose_file" ] || { echo "$compose_file is missing" >&2; give_up; }
# A lost connection also loses the deploy lock, and the next holder removes the uploaded files.
(cd "$staged" && find . -type f) | note files || give_up
files_there=$(($(wc -l <.berth/files)))
[ "$files_there" -eq "$files_staged" ] || {
  echo "$(pwd)/.berth/incoming has $files_there files where $files_staged were put: somebody has changed it, so try again" >&2
  give_up
}
printf '%s\n' '#!/bin/sh' "$alone" "$functions" "$by_hand" | note restore.sh || give_up
note running </dev/null || give_up
note old </dev/null || give_up
rm -f .berth/containers .berth/said
# Saves the outcome for a later recovery.
came_to() { printf '%s\t%s\n' "$run" "$1" >.berth/outcome; }
came_to begun || give_up

containers() {
  case $compose_kind in
    v1) compose_stack "$1" ps -q 2>/dev/null </dev/null ;;
    *) compose_stack "$1" ps -aq 2>/dev/null </dev/null ;;
  esac
}
# Containers of the project that the last deploy started: asking Docker is faster than asking compose.
known_containers() {
  project=
  [ ! -f .berth/project ] || IFS= read -r project <.berth/project
  case $project in "" | *[!a-z0-9_-]*) return 1 ;; esac
  known=$(as_root docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$project" 2>/dev/null </dev/null)
  [ -n "$known" ] && printf '%s\n' "$known"
}
# Containers that compose has created in this directory, if they belong to a single project, whose name is recorded.
containers_here() {
  here=$(as_root docker ps -a --no-trunc --filter "label=com.docker.compose.project.working_dir=$(pwd -P)" --format '{{.ID}} {{.Label "com.docker.compose.project"}}' 2>/dev/null </dev/null)
  project=$(printf '%s\n' "$here" | cut -d ' ' -f 2 | sort -u)
  case $project in "" | *[!a-z0-9_-]*) return 1 ;; esac
  printf '%s\n' "$project" >.berth/project
  printf '%s\n' "$here" | cut -d ' ' -f 1
}

# Current containers and image names, which a failure restores. Compose is slow and not needed before the start, so
# this runs while the image is loaded.
old_file=$(stack_file "$compose_file")
inspect_before() {
  old=$(known_containers) || old=$(containers_here) || old=$(containers "$old_file")
  printf '%s\n' "$old" | note old || return 1
  # shellcheck disable=SC2086 # A list of ids.
  [ -z "$old" ] || as_root docker inspect --type container --format '{{if .State.Running}}{{.Image}} {{.Config.Image}} {{.Id}} {{.Name}}{{end}}' $old 2>/dev/null </dev/null |
    sed '/^$/d' | note running
}
inspecting=
if [ -n "$old_file" ]; then
  inspect_before </dev/null >/dev/null 2>&1 &
  inspecting=$!
fi
wait "$naming" || give_up
[ -z "$listing" ] || wait "$listing"
# Each image gets an additional name until the end.
[ "$store" != containerd ] || sort -u .berth/names | keep_images
[ -z "$checking" ] || check_begin || give_up
