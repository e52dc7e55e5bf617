#!/bin/sh
# stack.sh ACTION DIRECTORY VOLUMES: stops, starts, restarts or removes the stack in a directory, or only inspects it:
# immediately (look), or once no activation is running there (settled); plan lists what a removal would remove and leave,
# and changes nothing. If VOLUMES is yes, a removal includes the volumes of the compose file.
# Prints `absent` if nothing is deployed, `empty` if a stack has no containers to stop or restart, else the resulting
# state of its containers as printed by inspect. A removal prints a `removed` line for each deleted file, an `image`
# line for each deleted image, a `volume` line for each volume that is gone, a `left` line for each file that it could not
# delete, and `stays` lines as in a plan.
# If the action failed, exits with a code other than 0 and the error output. It runs to its end even if the connection
# is lost.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
. "$(dirname "$0")/../lib/images.sh"
. "$(dirname "$0")/../lib/inspect.sh"
. "$(dirname "$0")/../lib/releaseNumbers.sh"
. "$(dirname "$0")/../lib/unusedImages.sh"
. "$(dirname "$0")/../lib/removal.sh"
action=$1
volumes=$3
cd "$(path_of "$2")" 2>/dev/null || { echo absent; exit 0; }
here=$(pwd -P)
tab=$(printf '\t')
ids() {
  stack_all=$(stack_ps '{{.ID}} {{.Label "com.docker.compose.oneoff"}}' -a) && printf '%s\n' "$stack_all" | awk 'NF && $2 != "True" { print $1 }'
}
# With sudo, one command runs first and alone, so that a wrong password is a single attempt.
as_root docker version --format '{{.Server.Version}}' </dev/null >/dev/null || exit 1
if [ "$action" = settled ] && [ -e .berth/activation ]; then
  exec 8<.berth/activation
  flock -w 300 8 || { echo "what goes on in this directory has not ended" >&2; exit 1; }
fi
containers=$(ids) || exit 1
file=$(stack_file compose.yml)
# Set if Berth has deployed here, so that the compose file is Berth's.
berths=
[ ! -f .berth/deployed ] && [ ! -d .berth/releases ] && [ ! -s .berth/loading ] || berths=yes
case $action:$containers:$file:$berths in
  *::*:yes | start::?*: | look::?*: | settled::?*:) ;;
  *::*:) echo absent; exit 0 ;;
esac
show() {
  # shellcheck disable=SC2046 # A list of ids.
  inspect $(ids)
}
if [ "$action" = look ] || [ "$action" = settled ]; then
  [ -n "$containers" ] || echo empty
  show
  exit 0
fi
if [ "$action" = plan ]; then
  foreign=$(stack_foreign) || exit 1
  plan_removal
  exit
fi
find_compose
trap '' HUP PIPE TERM
# shellcheck disable=SC2034 # What calls sudo asks for it.
berth_ignores=yes
if [ -d .berth ]; then
  exec 8>>.berth/activation || exit 1
  flock -w 300 8 || { echo "a deploy to this directory has not ended" >&2; exit 1; }
fi
# Uses the compose file, or only Docker if it is missing. Prints the output after the end, because writing to a closed
# connection could interrupt the command.
to_its_end() { said=$("$@" </dev/null 2>&1) || { printf '%s\n' "$said" >&2; return 1; }; }
by_compose() { to_its_end compose_stack "$file" "$@"; }
# shellcheck disable=SC2086 # A list of ids.
by_docker() { [ -z "$containers" ] || to_its_end as_root docker "$@" $containers; }
foreign=$(stack_foreign) || exit 1
# Stops what compose leaves running: containers of services that its file no longer names.
# shellcheck disable=SC2317 # Called as "$@".
stop_all() { by_compose stop && by_docker stop; }
case $action:$foreign:$file in
  start:?*:*)
    printf '%s\n' "$foreign" | sed "s/^/foreign$tab/"
    show
    exit 1 ;;
  stop::?*) set -- stop_all ;;
  restart::?*) set -- by_compose restart ;;
  start::?*) set -- by_compose up -d --no-build --no-recreate ;;
  *) set -- by_docker "$action" ;;
esac
if [ "$action" != remove ]; then
  case $action:$file in
    start:?*) ;;
    *) [ -n "$containers" ] || { echo empty; exit 0; } ;;
  esac
  "$@" || { show; exit 1; }
  show
  exit 0
fi

# Read before the containers go, which tell it.
find_going || { show; exit 1; }
fates=$(volume_fates)
with_volumes=
[ "$volumes" != yes ] || with_volumes=-v
if [ -n "$foreign" ]; then
  # They are of a name too.
  [ -z "$with_volumes" ] || printf '%s\n' "$foreign" | sed "s/^/foreign$tab/"
elif [ -n "$file" ]; then
  # Containers that the compose file no longer names hold its networks.
  # shellcheck disable=SC2086 # None or one word.
  by_compose down --remove-orphans $with_volumes || { show; exit 1; }
fi
# Those, and all where there is no compose file, or where compose would take down another stack too.
containers=$(ids) || exit 1
by_docker rm -f || { show; exit 1; }
containers=$(ids) || exit 1
[ -z "$containers" ] || { echo "not all containers could be removed" >&2; show; exit 1; }
volume_ends "$fates"
brought=$(brought_there)
directory_stays "$brought"
printf '%s\n' "$brought" | while IFS= read -r name; do
  [ -n "$name" ] || continue
  if rm -f "./$name"; then printf 'removed\t%s\n' "$name"; else printf 'left\t%s\n' "$name"; fi
  case $name in */*) rmdir -p "./${name%/*}" 2>/dev/null ;; esac
done
# First removes the names by which releases and interrupted deploys hold images. Docker keeps an image that a container
# uses.
forget_incoming
images_before=$(list_images)
find_images "$images_before"
# shellcheck disable=SC2086 # A list of names without spaces.
[ -z "$held" ] || as_root docker rmi $held </dev/null >/dev/null 2>&1
images_there=$(list_images)
# shellcheck disable=SC2086 # An id and names without spaces.
printf '%s\n' "$left" | while IFS= read -r line; do [ -z "$line" ] || remove_image $line; done
images_now=$(list_images) || images_now=$images_before
printf '%s\n' "$candidates" | while read -r id name _; do
  printf '%s\n' "$images_before" | grep -q "^$id " || continue
  printf '%s\n' "$images_now" | grep -q "^$id " || printf 'image\t%s\n' "${name:-$id}"
done
images_there=$images_now
image_fates | sed -n '/^stays/p'
rm -rf .berth
cd / && rmdir "$here" 2>/dev/null
exit 0
