#!/bin/sh
# stages.sh: what activate.sh does once it has read its arguments and the manifest.
# shellcheck disable=SC2154 # Variables of activate.sh.
# These functions are also a part of restore.sh, which every deploy leaves on the server.
functions=$(cat "$(dirname "$0")/../lib/compose.sh" "$(dirname "$0")/../lib/stackContainers.sh" "$(dirname "$0")/../lib/images.sh" "$(dirname "$0")/parts/restore.sh")
eval "$functions"
again=
by_hand=$(cat "$(dirname "$0")/parts/restoreByHand.sh")
alone=$(cat "$(dirname "$0")/../lib/standalone.sh")
. "$(dirname "$0")/../lib/inspect.sh"
. "$(dirname "$0")/../lib/releaseNumbers.sh"
. "$(dirname "$0")/../lib/unusedImages.sh"
. "$(dirname "$0")/parts/prepare.sh"
. "$(dirname "$0")/parts/failed.sh"
. "$(dirname "$0")/parts/reportOutput.sh"
. "$(dirname "$0")/parts/load.sh"
. "$(dirname "$0")/parts/place.sh"
. "$(dirname "$0")/parts/build.sh"
. "$(dirname "$0")/parts/backup.sh"
. "$(dirname "$0")/parts/hook.sh"
. "$(dirname "$0")/parts/bridge.sh"
. "$(dirname "$0")/parts/start.sh"
. "$(dirname "$0")/parts/pruneReleases.sh"
. "$(dirname "$0")/parts/recordRelease.sh"
. "$(dirname "$0")/parts/release.sh"
