# shellcheck shell=sh
# Takes the arguments, and notes what runs and what the names of images mean: a failure brings that back.
# Signals of a dying connection are ignored, so that one that breaks halfway leaves nothing half done.
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
# The release's manifest comes first on stdin, after its size and a line break: an archive may follow.
IFS= read -r manifest_size || :
manifest=
case $manifest_size in
  "" | 0 | *[!0-9]*) ;;
  *)
    manifest=$(dd "bs=$manifest_size" "count=1" "iflag=fullblock" 2>/dev/null; echo x)
    manifest=${manifest%x}
    # The caller disconnected before it sent the manifest.
    [ "$(printf '%s' "$manifest" | wc -c)" -eq "$manifest_size" ] || { echo "the connection broke before anything was changed" >&2; exit 1; } ;;
esac
tab=$(printf '\t')
# about KEY: what it says of that, a line each.
about() { printf '%s\n' "$manifest" | sed -n "s/^$1$tab//p"; }
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
staged=.berth/staged
previous=.berth/previous
rm -rf "$staged" "$previous"
# Without the notes nothing could be put back: on a full disk, nothing is begun. cat says so where the shell does not.
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
# Two lists of files, each after how many it has: those that the project has no longer, and those for compose that it has.
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
# First: the list of images that are here must not have them.
forget_incoming
[ "$source" != incoming ] || printf '%s\n' "$run" | note loading || give_up
# The images that are here already, and their names: what an archive brings beside them is Berth's own.
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
# Another holder of the deploy lock removes them: this one has lost it with its connection.
(cd "$staged" && find . -type f) | note files || give_up
files_there=$(($(wc -l <.berth/files)))
[ "$files_there" -eq "$files_staged" ] || {
  echo "$(pwd)/.berth/incoming has $files_there files where $files_staged were put: somebody has changed it, so try again" >&2
  give_up
}
printf '%s\n' "$restore" | note restore.sh || give_up
note running </dev/null || give_up
note old </dev/null || give_up
rm -f .berth/containers .berth/said
# A later recovery reads the outcome here.
came_to() { printf '%s\t%s\n' "$run" "$1" >.berth/outcome; }
came_to begun || give_up

containers() {
  case $compose_kind in
    v1) compose -f "$1" ps -q 2>/dev/null </dev/null ;;
    *) compose -f "$1" ps -aq 2>/dev/null </dev/null ;;
  esac
}
# The containers of the project that the last deploy started: Docker tells them at once, compose takes its time.
known_containers() {
  project=
  [ ! -f .berth/project ] || IFS= read -r project <.berth/project
  case $project in "" | *[!a-z0-9_-]*) return 1 ;; esac
  known=$(as_root docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$project" 2>/dev/null </dev/null)
  [ -n "$known" ] && printf '%s\n' "$known"
}
# The containers that compose has made in this directory, where they are of one project; that is noted.
containers_here() {
  here=$(as_root docker ps -a --no-trunc --filter "label=com.docker.compose.project.working_dir=$(pwd -P)" --format '{{.ID}} {{.Label "com.docker.compose.project"}}' 2>/dev/null </dev/null)
  project=$(printf '%s\n' "$here" | cut -d ' ' -f 2 | sort -u)
  case $project in "" | *[!a-z0-9_-]*) return 1 ;; esac
  printf '%s\n' "$project" >.berth/project
  printf '%s\n' "$here" | cut -d ' ' -f 1
}

# Current containers and meanings of image names, which a failure restores. Compose is slow
# and not needed before the start, so it is asked while the image is loaded.
old_file=$(any_compose_file "$compose_file")
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
# Each of them keeps one name more until the end.
[ "$store" != containerd ] || sort -u .berth/names | keep_images
