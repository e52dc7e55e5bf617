#!/bin/sh
# adopt.sh DIRECTORY RUN OWNED FILE… ID…: records the containers with these ids, and the files that the release's
# manifest on stdin names, as the first release of the directory; touches no container. First gives as many OWNED files to
# the user, which only root may read, and back to their owners if it fails. Stdin has the size in bytes and the text of the manifest. Prints a `release` line with
# its number; a directory with a current release keeps that.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/images.sh"
. "$(dirname "$0")/../lib/releaseNumbers.sh"
. "$(dirname "$0")/../activation/parts/recordRelease.sh"
umask 077
cd "$(path_of "$1")" && mkdir -p .berth || exit 1
run=$2
owned=$3
shift 3
tab=$(printf '\t')
IFS= read -r manifest_size || :
case $manifest_size in "" | 0 | *[!0-9]*) echo "no manifest came" >&2; exit 1 ;; esac
manifest=$(dd "bs=$manifest_size" "count=1" "iflag=fullblock" 2>/dev/null; echo x)
manifest=${manifest%x}
[ "$(printf '%s' "$manifest" | wc -c)" -eq "$manifest_size" ] || { echo "the connection broke before anything was changed" >&2; exit 1; }
# about KEY: prints the manifest's values for a key, one per line.
about() { printf '%s\n' "$manifest" | sed -n "s/^$1$tab//p"; }
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
if IFS= read -r current 2>/dev/null <.berth/current && [ -f ".berth/releases/$current/note" ]; then
  printf 'release\t%s\n' "$current"
  exit 0
fi
# A failure from here on gives them back. Each trap does it by itself: a second signal may end the shell while it runs another
# one.
given=
give_back() {
  trap '' HUP INT TERM PIPE
  # shellcheck disable=SC2034 # as_root reads it.
  berth_ignores=yes
  printf '%s' "$given" | while IFS=$tab read -r owner name; do as_root chown -h "$owner" "./$name" </dev/null; done
  given=
}
trap '[ $? -eq 0 ] || give_back' EXIT
trap 'give_back; exit 1' HUP INT TERM PIPE
while [ "$owned" -gt 0 ]; do
  [ "$(as_root readlink -f "./$1" </dev/null)" = "$(pwd -P)/$1" ] && owner=$(as_root stat -c %u "./$1" </dev/null) || exit 1
  given="$given$owner$tab$1
"
  as_root chown -h "$(id -u)" "./$1" </dev/null || exit 1
  shift
  owned=$((owned - 1))
done
# The images that run, under the names that they were started by, whatever those mean now.
as_root docker inspect --type container --format '{{.Image}} {{.Config.Image}}' "$@" </dev/null >.berth/names.new || exit 1
release_prefix=$(prefix_here)
# An image that is built or pulled again under its name stays for a rollback.
cut -d ' ' -f 1 .berth/names.new | sort -u | while read -r id; do
  as_root docker tag "$id" "$release_prefix$(printf '%s' "${id#sha256:}" | cut -c 1-12)" </dev/null >/dev/null 2>&1 || exit 1
done || { echo "an image that runs has been removed" >&2; exit 1; }
described=$(awk -v "tab=$tab" 'NF == 2 && !seen[$0]++ { print "image" tab $1 tab $2 tab "kept" }' .berth/names.new)
rm -f .berth/names.new
number=$(next_number)
printf '%s\n' "$manifest" | grep -e "^compose$tab" -e "^profile$tab" -e "^project$tab" -e "^variables$tab" >.berth/stack &&
  about env >.berth/deployed || exit 1
if ! said=$(write_release "$number" "$described" 2>&1); then
  rm -rf .berth/releases/.new .berth/stack .berth/deployed
  printf '%s\n' "$said" | tail -n 3 >&2
  exit 1
fi
printf 'release\t%s\n' "$number"
