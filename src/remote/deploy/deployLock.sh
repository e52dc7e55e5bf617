#!/bin/sh
# deployLock.sh DIRECTORY HOLDER [GONE]: holds the deploy lock of a directory while stdin is open and receives a
# heartbeat at least every three minutes. Prints `held` and the revision once it has the lock. If another holder has
# it, exits with 75 and the holder's name; if that is GONE, ends the holder's connection first.
# The lock belongs to this process and is released when the channel, or its opener, is gone. It removes leftovers of a
# broken deploy after waiting for that deploy's activation to end. sshd only notices a lost network after hours, hence
# the heartbeat: a holder that stops sending it, or that its own Berth reports as gone, loses its connection.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/revision.sh"
path=$(path_of "$1")
# A directory created for a deploy that fails is removed again, because nothing is deployed there.
made=
[ -e "$path" ] || made=yes
revision=
known=yes
[ -d "$path/.berth" ] || known=
command -v flock >/dev/null || { echo "flock is missing: install util-linux" >&2; exit 1; }
hang_up() {
  case $(cat "/proc/$1/comm" 2>/dev/null) in sshd*) kill -KILL "$1" 2>/dev/null ;; esac
}
while :; do
  # Private whatever the umask: it holds what a deploy is about to put in place.
  mkdir -p "$path" && (umask 077; mkdir -p "$path/.berth") || exit 1
  cd "$path/.berth" || exit 1
  # Also one that an earlier version made.
  chmod o-rwx . 2>/dev/null || :
  exec 9>>lock || exit 1
  if ! flock -n 9; then
    # shellcheck disable=SC2094 # It is only read here.
    { IFS= read -r holder; read -r connection process; } <holder
    if [ -n "$3" ] && [ "$holder" = "$3" ]; then
      hang_up "$connection"
      kill -KILL "$process" 2>/dev/null
    fi
    [ -z "$holder" ] || printf '%s\n' "$holder"
    exit 75
  fi
  # Retries if the directory was removed in between.
  [ ! -e lock ] || break
done
if [ -e activation ]; then
  exec 8<activation
  flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
  exec 8<&-
fi
[ -z "$known" ] || revision=$(deploy_revision .)
printf '%s\n%s %s\n' "$2" "$PPID" "$$" >holder
rm -rf incoming
told=
silent=
trap 'told=yes' HUP INT TERM
printf 'held\t%s\n' "$revision"
if command -v timeout >/dev/null; then
  until [ -n "$told$silent" ]; do
    heard=$(timeout 180 dd bs=256 count=1 2>/dev/null 9>&-) || silent=yes
    [ -n "$heard" ] || break
  done
else
  cat >/dev/null 9>&-
fi
rm -rf incoming
# Removes the directory with .berth if it is otherwise empty and idle, and .berth has no record of an interrupted load.
# A process that waits for the lock sees its holder until the end.
remove_made() {
  [ ! -s loading ] || return
  [ ! -e activation ] || { exec 8<activation && flock -n 8; } || return
  [ -z "$(cd "$path" && find . ! -type d ! -path './.berth/*' 2>&1 | head -n 1)" ] || return
  mv "$path/.berth" "$path/.berth-$$" || return
  rm -rf "$path/.berth-$$"
  cd / || return
  find "$path" -depth -type d ! -name .berth -exec rmdir {} \; 2>/dev/null
}
if [ -z "$made" ] || ! remove_made; then
  [ ! -e holder ] || : >holder
fi
exec 9>&-
[ -n "$told" ] || [ -z "$silent" ] || hang_up "$PPID"
