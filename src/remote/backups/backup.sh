#!/bin/sh
# backup.sh DIRECTORY TRIGGER RUN: takes a backup of the stack in a directory, as the plan on stdin says: see
# parts/take.sh. Runs to its end even if the connection is lost. Before a deploy, whose activation waits and holds the
# lock, what is not there yet is left out.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
sudo_text=$(cat "$(dirname "$0")/../../services/ssh/scripts/sudo.sh")
guard_text=$(cat "$(dirname "$0")/guard.sh")
. "$(dirname "$0")/parts/stopped.sh"
. "$(dirname "$0")/parts/swap.sh"
. "$(dirname "$0")/parts/take.sh"
trap '' HUP PIPE TERM
# shellcheck disable=SC2034 # What calls sudo asks for it.
berth_ignores=yes
trigger=$2
run=$3
# shellcheck disable=SC2034 # A part reads it.
case $trigger in deploy) lenient=yes ;; *) lenient= ;; esac
tab=$(printf '\t')
cd "$(path_of "$1")" 2>/dev/null || { because "there is no directory $1"; exit 1; }
manifest=$(cat)
# The caller disconnected before the plan was complete.
case $manifest in *"${tab}end") ;; *) because "the connection broke before anything was changed"; exit 1 ;; esac
about() { printf '%s\n' "$manifest" | sed -n "s/^$1$tab//p"; }
# The older ones go only after a new one is whole, and never the newest one that has an item.
drop_old() {
  keep_backups=$(about keepBackups | grep -x '[1-9][0-9]*')
  [ -n "$keep_backups" ] || return 0
  newer_items=' '
  backups_kept=0
  for old_backup in $(backup_numbers); do
    is_last=
    # shellcheck disable=SC2013 # Names without spaces.
    for name in $(awk -F '\t' '$1 == "data" { print $2 }' "$backups/$old_backup/manifest"); do
      case $newer_items in *" $name "*) ;; *) is_last=yes; newer_items="$newer_items$name " ;; esac
    done
    backups_kept=$((backups_kept + 1))
    if [ "$backups_kept" -le "$keep_backups" ] || [ -n "$is_last" ]; then continue; fi
    rm -rf "${backups:?}/$old_backup"
    tell 'dropped\t%s\n' "$old_backup"
  done
}
# With sudo, one command runs first and alone, so that a wrong password is a single attempt.
as_root docker version --format '{{.Server.Version}}' </dev/null >/dev/null || exit 1
find_compose
(umask 077; mkdir -p .berth) || exit 1
if [ -z "$lenient" ]; then
  exec 8>>.berth/activation || exit 1
  flock -w 300 8 || { because "a deploy to this directory has not ended"; exit 1; }
fi
take_backup "$trigger" || exit 1
drop_old
