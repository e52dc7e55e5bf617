#!/bin/sh
# proxyWrite.sh FILE BEFORE AFTER SECONDS: writes AFTER into the file if it still holds BEFORE (names of private copies in the home),
# keeps what it held beside it, and puts that back when the new bytes do not arrive whole. The copies are gone afterwards.
# Exits like subprocesses/proxySteps.sh, with 75 when another edit takes too long, and with 69 when nothing could be tried.
# One call of sudo does it all, since each may ask for the password. Where sudo allows no shell, or root cannot read the
# home of the user, every cat and tee goes through sudo by itself.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/proxyLock.sh"
steps=$(cat "$(dirname "$0")/subprocesses/proxySteps.sh")
before=$HOME/$2
after=$HOME/$3
end() {
  rm -f "$before" "$after"
  exit "$1"
}
command -v cmp >/dev/null 2>&1 || { echo "cmp is not installed (diffutils)" >&2; end 69; }
[ -r "$before" ] && [ -r "$after" ] || { echo "the staged copies are gone" >&2; end 69; }
take_lock -x "$4" || end 75
find "$HOME/." ! -name . -prune -name '.berth-proxy-*' -mtime +1 -exec rm -f {} + 2>/dev/null
trap '' HUP INT TERM PIPE
# shellcheck disable=SC2034 # What calls sudo asks for it.
berth_ignores=yes
said=$(as_root sh -c "$steps" sh "" "$1" "$before" "$after" 2>&1 >/dev/null)
code=$?
if [ "$code" = 1 ]; then
  (
    set -- as_root "$1" "$before" "$after"
    eval "$steps"
  )
  code=$?
else
  printf '%s\n' "$said" >&2
fi
end "$code"
