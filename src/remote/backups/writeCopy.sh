#!/bin/sh
# writeCopy.sh ROOT NAME FILE: stores stdin as a file of a copy, readable by its owner alone. It is listed once it has a
# manifest. What an earlier one has left without is removed.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
root=$(path_of "$1")
umask 077
mkdir -p "$root/$2" && cd "$root" || exit 1
[ ! -f "$2/manifest" ] || { echo "there is a whole $2 already" >&2; exit 1; }
for left in [0-9]*/; do
  left=${left%/}
  [ "$left" = "$2" ] || [ -f "$left/manifest" ] || rm -rf "./${left:?}"
done
said=$(cat 2>&1 >"$2/$3") || {
  echo "$3: $said" >&2
  echo "$(df -Pk . | awk 'END { print $(NF - 2) }') KiB are free there" >&2
  exit 1
}
