#!/bin/sh
# restore.sh [DIRECTORY]: restores the previous version after a deploy was interrupted, for example by a power cut: its
# files, its image names and its containers. Then redirects the requests back from a bridge. Every deploy leaves it as
# .berth/restore.sh in the directory of the stack, to be run by hand on the server (with sudo if Docker or a bridge
# needs it):
# sh ~/containers/app/.berth/restore.sh
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
. "$(dirname "$0")/../lib/images.sh"
. "$(dirname "$0")/parts/restore.sh"
. "$(dirname "$0")/parts/restoreByHand.sh"
