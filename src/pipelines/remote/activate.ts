import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import type { ComposeKind } from "./deployPreflight.ts"
import { composeFunctions, imageFunctions, isImageName } from "./docker.ts"
import { lookFunction } from "./stackHealth.ts"

// Loads, swaps and starts in one go on the server, and puts everything back by itself when a part fails: a connection
// that breaks halfway leaves nothing half done. Signals of a dying connection are ignored for that reason.
const prepare = `
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

const restore = `
restore_names() {
  while read -r id name rest; do as_root docker tag "$id" "$name" </dev/null >>"$said" 2>&1; done <"$1"
}
# The archive's names that meant nothing before the load mean nothing after it has failed.
forget_names() {
  for name in $subjects; do
    cut -d ' ' -f 2 .berth/names | grep -qxF "$name" || as_root docker rmi "$name" </dev/null >>"$said" 2>&1
  done
}
# docker-compose 1.x renames a container before it makes the next one, and leaves it so when that fails.
restore_containers() {
  while read -r image tag id name; do
    is=$(as_root docker inspect --type container --format '{{.Name}}' "$id" 2>/dev/null </dev/null) || continue
    [ "$is" != "$name" ] || continue
    as_root docker rm -f "\${name#/}" </dev/null >>"$said" 2>&1
    as_root docker rename "$id" "\${name#/}" </dev/null >>"$said" 2>&1
  done <.berth/running
}
restore_files() {
  while IFS= read -r name; do
    if [ -e "$previous/$name" ]; then mv -f "$previous/$name" "$name"
    elif [ -e "$previous/$name.absent" ]; then rm -f "$name"
    fi
  done <.berth/files
}
# failed STEP RESTORED: the words of the server follow.
failed() {
  printf 'failed\\t%s\\t%s\\n' "$1" "$2"
  tail -c 6000 "$words"
  rm -rf "$staged" "$previous"
  exit 1
}
`

const load = `
# The arguments are ids and then as many names, which the archive gives to them.
load() {
  count=$(($# / 2))
  while [ "$count" -gt 0 ]; do
    ids="$ids $1"
    shift
    count=$((count - 1))
  done
  subjects=$*
  case $source in
    none) return 0 ;;
    file) as_root docker load <"$staged/$archive" || return 1 ;;
    input) as_root docker load || return 1 ;;
    both)
      { (trap - PIPE; exec tee "$staged/$archive") || : >.berth/incomplete; } | as_root docker load || return 1
      [ ! -e .berth/incomplete ] && chmod 644 "$staged/$archive" || return 1
      stored=$(stat -c %s "$staged/$archive" 2>/dev/null || wc -c <"$staged/$archive")
      [ "$((stored))" = "$size" ] || { echo "$((stored)) bytes of $archive arrived, and not $size"; return 1; } ;;
    names)
      for id in $ids; do
        [ "$id" = "$1" ] || grep -qxF "$id $1" .berth/names || as_root docker tag "$id" "$1" </dev/null || return 1
        shift
      done ;;
  esac
  [ -n "$subjects" ] || return 0
  # What is loaded has to be what the archive says.
  is=$(as_root docker image inspect --format "$format" $subjects </dev/null) || return 1
  [ "$(printf '%s\\n' "$is" | sha256sum | cut -c 1-64)" != "$expected" ] || return 0
  echo "what was loaded as $subjects is not the image of the archive:"
  printf '%s\\n' "$is"
  return 1
}
words=$said
ids=
subjects=
printf 'step\\tload\\n'
if ! load "$@" >"$said" 2>&1; then
  words=.berth/words
  cp "$said" "$words"
  wait
  restore_names .berth/names
  forget_names
  # The whole archive may be sent next: what came before it is still wanted then.
  case $source in
    input | names)
      rm -rf .berth/incoming
      mv "$staged" .berth/incoming ;;
  esac
  failed load yes
fi
(cd "$staged" && find . -type f) >.berth/files
sed 's/^/loaded\t/' "$said"
`

const start = `
wait
old=$(cat .berth/old)
printf 'step\\tstart\\n'
start() {
  while IFS= read -r name; do
    mkdir -p "$(dirname "$name")" "$(dirname "$previous/$name")" || return 1
    if [ -e "$name" ]; then ln "$name" "$previous/$name" 2>/dev/null || cp -p "$name" "$previous/$name" || return 1
    else : >"$previous/$name.absent" || return 1
    fi
    mv -f "$staged/$name" "$name" || return 1
  done <.berth/files
  compose -f "$compose_file" up -d </dev/null
}
if ! start >"$said" 2>&1; then
  words=.berth/words
  cp "$said" "$words"
  if [ -s .berth/running ]; then
    restore_files
    restore_names .berth/names
    restore_names .berth/running
    restore_containers
    if compose -f "$old_file" up -d </dev/null >"$said" 2>&1; then failed start yes; fi
    { echo; echo "and what ran before did not start again:"; cat "$said"; } >>"$words"
    failed start no
  fi
  # Nothing ran before, so nothing is left running; volumes stay.
  if [ -z "$old" ]; then compose -f "$compose_file" down </dev/null >"$said" 2>&1
  else compose -f "$compose_file" stop </dev/null >"$said" 2>&1
  fi
  restore_files
  restore_names .berth/names
  failed start yes
fi
rm -rf "$staged" "$previous"
# The archive that lies here holds what runs, or there is none.
settle_archive() {
  kept=
  kept_ids=
  [ ! -f .berth/archive ] || { IFS= read -r kept; IFS= read -r kept_ids; } <.berth/archive
  case $kept in */*) kept= ;; esac
  if [ "$source" = names ] && [ -n "$kept" ] && [ "$kept_ids" = "$ids" ] && [ -f "./$kept" ]; then
    [ -n "$(find "./$kept" -newer .berth/archive)" ] || return 0
  fi
  case $source in
    file | both)
      [ "$kept" = "$archive" ] || [ -z "$kept" ] || rm -f "./$kept"
      printf '%s\\n%s\\n' "$archive" "$ids" >.berth/archive ;;
    *)
      [ -z "$kept" ] || rm -f "./$kept"
      rm -f "./$archive" .berth/archive ;;
  esac
}
[ "$source" = none ] || settle_archive
[ "$compose_kind" != v1 ] || { LC_ALL=C ls -lLd "$(command -v docker-compose)" && printf '%s\\n' "$compose_version"; } >.berth/compose 2>/dev/null
# The compose file and .env decide what a project is called.
if grep -qxF -e "./$compose_file" -e ./.env .berth/files || ! now=$(known_containers); then
  now=$(containers "$compose_file")
  for id in $now; do
    as_root docker inspect --type container --format '{{index .Config.Labels "com.docker.compose.project"}}' "$id" >.berth/project 2>/dev/null </dev/null
    break
  done
fi
look $now
printf 'step\\thealth\\n'
`

const script = `${composeFunctions}${imageFunctions}${lookFunction}${prepare}${restore}${load}${start}`

/** An image of the archive under one of its names; under its id where it has none. */
export interface ArchiveName {
  readonly id: string
  readonly name: string
}

/** How the server comes by the image, and what it has to be then. */
export interface ImageSource {
  /**
   * Where it is loaded from: the uploaded archive (`file`), the script's input, which is stored as the archive at the
   * same time (`both`) or not (`input`), or nothing at all, be it that the server has the images and only their names
   * are set (`names`), or that there is no archive (`none`).
   */
  readonly from: "file" | "both" | "input" | "names" | "none"
  /** The archive's name below the remote path, and its bytes. */
  readonly archive: string
  readonly size: number
  readonly names: ReadonlyArray<ArchiveName>
  /** What `docker image inspect` is asked of each name afterwards, and the sha256 of its answer. */
  readonly format: string
  readonly expected: string
}

/** What an activation switches to. */
export interface Activation {
  readonly remotePath: string
  readonly composeKind: ComposeKind
  readonly composeVersion: string
  readonly composeFile: string
  readonly source: ImageSource
  /** The image names of the stack; a failure restores their present meaning, like that of the archive's names. */
  readonly images: ReadonlyArray<string>
}

/**
 * Loads the image, moves the uploaded files into place and starts the stack. It prints a `step` line when it comes to
 * `load`, `start` and `health`, and where it fails a `failed` line (step, whether what ran before is back) that the
 * server's words follow.
 */
export const activateCommand = (
  { composeFile, composeKind, composeVersion, images, remotePath, source }: Activation,
  sudo: boolean
): RemoteCommand => {
  const names = [...new Set([...images, ...source.names.map(({ name }) => name)])]
    .filter((name) => isImageName(name) && !name.startsWith("sha256:"))
  return {
    what: "starting the stack",
    script,
    args: [
      remotePath,
      composeKind,
      composeVersion,
      composeFile,
      source.from,
      source.archive,
      String(source.size),
      source.format,
      source.expected,
      String(names.length),
      ...names,
      ...source.names.map(({ id }) => id),
      ...source.names.map(({ name }) => name)
    ],
    sudo
  }
}
