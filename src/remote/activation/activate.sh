#!/bin/sh
# activate.sh DIRECTORY COMPOSE-KIND COMPOSE-VERSION COMPOSE-FILE STORE SOURCE ARCHIVE FORMAT EXPECTED RUN PLATFORM STAGED
# COUNT NAME… GONE FILE… BROUGHT FILE… ID… NAME…: loads the image, moves the uploaded files into place, starts the stack and
# inspects its containers, in one go on the server, and puts everything back by itself when a part fails. It refuses to begin
# unless exactly STAGED files were uploaded. COUNT names to remember come first, then GONE files that are removed and BROUGHT
# ones that the project has for compose, then the ids of the archive's images and as many names for them. On stdin come the
# size in bytes and the text of what is to be kept of it as a release, then what it loads. Prints a `step` line when it comes
# to load, beforeStart (where the manifest has a `hook` line), bridge and switch (where it has `bridge` lines), start, health, release and its end, and where it fails
# a `failed` line (step, whether what ran before is back, and whether anything ran) that the server's words follow.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/images.sh"
. "$(dirname "$0")/../lib/inspect.sh"
. "$(dirname "$0")/../lib/unusedImages.sh"
restore=$(cat "$(dirname "$0")/../lib/standalone.sh" "$(dirname "$0")/restore.sh")
. "$(dirname "$0")/parts/restore.sh"
. "$(dirname "$0")/parts/prepare.sh"
. "$(dirname "$0")/parts/failed.sh"
. "$(dirname "$0")/parts/reportOutput.sh"
. "$(dirname "$0")/parts/load.sh"
. "$(dirname "$0")/parts/place.sh"
. "$(dirname "$0")/parts/hook.sh"
. "$(dirname "$0")/parts/bridge.sh"
. "$(dirname "$0")/parts/start.sh"
. "$(dirname "$0")/parts/pruneReleases.sh"
. "$(dirname "$0")/parts/release.sh"
