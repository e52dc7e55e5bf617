#!/bin/sh
# activate.sh DIRECTORY COMPOSE-KIND COMPOSE-VERSION COMPOSE-FILE STORE SOURCE ARCHIVE FORMAT EXPECTED RUN PLATFORM
# STAGED COUNT NAME… GONE FILE… BROUGHT FILE… ID… NAME…: loads the image, moves the uploaded files into place, starts
# the stack and inspects its containers. Runs entirely on the server and restores the previous state if a part fails.
# Refuses to start unless exactly STAGED files were uploaded.
# First come COUNT image names to record, then GONE files to remove and BROUGHT files that the project has for compose,
# then the ids of the archive's images and as many names for them. Stdin has the size in bytes and the text of the
# release's manifest, then the image data. With a `check` line in the manifest, two further parts of the same form stand
# between them: what the plan expects of the compose files, and the text of checkCompose.sh.
# Prints a `step` line for load, backup (if the manifest has a `backup` line), beforeStart (if the manifest has a `hook` line), bridge and switch (if it has `bridge`
# lines), start, health, release and end. On failure, prints a `failed` line (step, whether the previous version is
# restored, whether any version ran before), followed by the server's output.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
# These functions are also a part of restore.sh, which every deploy leaves on the server: a command has to fit into one
# packet, so that it has each text once.
functions=$(cat "$(dirname "$0")/../lib/compose.sh" "$(dirname "$0")/../lib/images.sh" "$(dirname "$0")/parts/restore.sh")
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
. "$(dirname "$0")/parts/backup.sh"
. "$(dirname "$0")/parts/hook.sh"
. "$(dirname "$0")/parts/bridge.sh"
. "$(dirname "$0")/parts/start.sh"
. "$(dirname "$0")/parts/pruneReleases.sh"
. "$(dirname "$0")/parts/recordRelease.sh"
. "$(dirname "$0")/parts/release.sh"
