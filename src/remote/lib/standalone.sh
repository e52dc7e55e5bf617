# shellcheck shell=sh
# For a script that is run by hand: defines the functions that Berth otherwise prepends.
. "$(dirname "$0")/../../services/ssh/scripts/pathOf.sh"
as_root() { "$@"; }
