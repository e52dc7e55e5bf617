# shellcheck shell=sh
# Records the running containers and the image names, which a failure restores.
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
staged=.berth/staged
previous=.berth/previous
rm -rf "$staged" "$previous" .berth/context .berth/stack.before .berth/remount
# note NAME: saves stdin in .berth. Nothing is started on a full disk, because nothing could be restored without these
# files; cat reports the error if the shell does not.
note() { cat >".berth/$1" || { echo "so .berth/$1 could not be noted" >&2; return 1; }; }
# begin_note NAME: empties it; a failure does not end the shell, as that of : would.
begin_note() { printf '' >".berth/$1" || { echo "so .berth/$1 could not be noted" >&2; return 1; }; }
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
  begin_note "$list" || exit 1
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
begin_note running || give_up
begin_note old || give_up
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
# Containers of the stack in this directory, under the name of the new version: another name is another stack.
containers_here() {
  here=$(stack_ps "{{.Label \"com.docker.compose.project\"}}$tab{{.ID}}" -a 2>/dev/null) || return 1
  here=$(printf '%s\n' "$here" | named_one_of "$(cat .berth/called)")
  [ -n "$here" ] && printf '%s\n' "$here"
}
# Lines of the survey about this directory: project, container, id, service, and True for one-off ones.
surveyed_here() { printf '%s\n' "$listed" | sed -n "s/^\.$tab//p"; }
# Names that compose gives the new version. The note of a release of an earlier version may lack that: then those of
# what is there.
new_names() {
  called_is=$(printf '%s\n' "$manifest" | sed -n "s/^called$tab/=/p")
  if [ -n "$called_is" ]; then stack_names "${called_is#=}"
  else
    { about project; surveyed_here | cut -f 1; } | grep . | sort -u | grep . || stack_names
  fi
}
# Containers of this stack whose service the new version does not have, unless they are to stay.
list_orphans() {
  services=$(about service)
  [ -n "$services" ] && [ "$(about orphans)" != keep ] || return 0
  { printf '%s\n' "$services" | cut -f 2-; echo /; printf '%s\n' "$called"; echo /; surveyed_here; } | awk -F '\t' '
    $0 == "/" { part++; next }
    part == 0 { service[$0] = 1; next }
    part == 1 { name[$0] = 1; next }
    $5 != "True" && $1 in name && !($4 in service) { print $3 "\t" $4 }'
}
# note_running ID…: notes the images of those that run.
note_running() {
  as_root docker inspect --type container --format '{{if .State.Running}}{{.Image}} {{.Config.Image}} {{.Id}} {{.Name}}{{end}}' "$@" 2>/dev/null </dev/null |
    sed '/^$/d' | note running
}
# Asks Docker once for all that is there: .berth/foreign has containers of another directory whose stack has a name of
# this one, which compose would take for its own; .berth/owned and .berth/orphans those of this directory.
survey() {
  listed=$(stack_places "{{.Label \"com.docker.compose.project\"}}$tab{{.Names}}$tab{{.ID}}$tab{{.Label \"com.docker.compose.service\"}}$tab{{.Label \"com.docker.compose.oneoff\"}}" -a) || return 1
  old=$(surveyed_here | cut -f 3)
  asking=
  # Docker takes longer for this answer than the lists below take.
  if [ -n "$old" ]; then
    # shellcheck disable=SC2086 # A list of ids.
    note_running $old &
    asking=$!
  fi
  called=$(new_names)
  printf '%s\n' "$called" | note called || return 1
  surveyed_here | awk -F '\t' '{ print $3 "\t" $1 "\t" $4 }' | note owned && list_orphans | note orphans || return 1
  strangers=$(printf '%s\n' "$listed" | foreign_among "$called")
  if [ -z "$old$strangers" ] && [ -n "$old_file" ]; then
    old=$(containers "$old_file")
    # shellcheck disable=SC2086 # A list of ids.
    [ -z "$old" ] || note_running $old || return 1
  fi
  printf '%s\n' "$old" | note old || return 1
  # A start that fails removes the networks that it made.
  surveyed_here | cut -f 1 | grep -qxF -e "$called" || as_root docker network ls -q --no-trunc </dev/null | note networks || return 1
  [ -z "$asking" ] || wait "$asking" || return 1
  # The last line says that all of this is known, also on a full disk.
  { printf '%s\n' "$strangers"; echo surveyed; } | sed '/^$/d' | note foreign
}

# Current containers and image names, which a failure restores. Compose is slow and not needed before the start, so
# this runs while the image is loaded.
old_file=$(stack_file "$compose_file")
rm -f .berth/foreign .berth/owned .berth/orphans .berth/networks .berth/called
before=
(survey; code=$?; wait; exit "$code") </dev/null >.berth/surveyed 2>&1 &
surveying=$!
wait "$naming" || give_up
[ -z "$listing" ] || wait "$listing"
# Each image gets an additional name until the end.
[ "$store" != containerd ] || sort -u .berth/names | keep_images
[ -z "$checking" ] || check_begin || give_up
