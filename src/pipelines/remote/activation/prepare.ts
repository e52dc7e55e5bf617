// Signals of a dying connection are ignored, so that one that breaks halfway leaves nothing half done.
/** Takes the arguments, and notes what runs and what the names of images mean: a failure brings that back. */
export const prepareScript = `
trap '' HUP PIPE TERM
cd "$(path_of "$1")" || exit 1
compose_kind=$2
compose_version=$3
compose_file=$4
source=$5
archive=$6
size=$7
format=$8
expected=$9
shift 9
names=$1
shift
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
staged=.berth/staged
previous=.berth/previous
said=.berth/said
rm -rf "$staged" "$previous" .berth/running .berth/names .berth/wanted .berth/incomplete
mkdir -p "$previous"
mv .berth/incoming "$staged" 2>/dev/null || mkdir -p "$staged"
: >"$said"
: >.berth/running
: >.berth/names
: >.berth/wanted
[ -f "$staged/$compose_file" ] || [ -f "$compose_file" ] || { echo "$compose_file is missing" >&2; exit 1; }

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
  [ -n "$known" ] && printf '%s\\n' "$known"
}

# What runs now, and what the names of images mean now: that is what a failure brings back. Compose is slow to tell
# and not needed before the start, so it is asked while the image is loaded.
old_file=
for name in "$compose_file" compose.yml compose.yaml docker-compose.yml docker-compose.yaml; do
  if [ -f "$name" ]; then old_file=$name; break; fi
done
look_before() {
  old=$(known_containers) || old=$(containers "$old_file")
  printf '%s\\n' "$old" >.berth/old
  [ -z "$old" ] || as_root docker inspect --type container --format '{{if .State.Running}}{{.Image}} {{.Config.Image}} {{.Id}} {{.Name}}{{end}}' $old 2>/dev/null </dev/null |
    sed '/^$/d' >.berth/running
}
: >.berth/old
if [ -n "$old_file" ]; then look_before </dev/null >/dev/null 2>&1 & fi
while [ "$names" -gt 0 ]; do
  printf '%s\\n' "$1" >>.berth/wanted
  names=$((names - 1))
  shift
done
name_ids $(cat .berth/wanted) >.berth/names
`
