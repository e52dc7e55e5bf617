#!/bin/sh
# markCopies.sh DIRECTORY NUMBER: notes in the manifest of a backup the copies on stdin, in place of those of their places.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")/.berth/backups/$2" || exit 1
umask 077
copies=$(cat)
printf '%s\n' "$copies" | awk -F '\t' 'NR == FNR { now[$2] = 1; next } $1 != "copy" || !($2 in now)' - manifest >manifest.new &&
  printf '%s\n' "$copies" >>manifest.new && mv -f manifest.new manifest
