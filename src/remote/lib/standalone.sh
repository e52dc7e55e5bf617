# shellcheck shell=sh
# For a script that is run by hand: what Berth puts before each of them.
. "$(dirname "$0")/../../services/ssh/scripts/pathOf.sh"
as_root() { "$@"; }
