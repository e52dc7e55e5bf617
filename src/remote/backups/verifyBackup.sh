#!/bin/sh
# verifyBackup.sh ROOT NAME: reads the files of a backup or of a copy, and compares them with the `data` lines of its
# manifest on stdin. Prints a line for each: `whole`, `changed` or `missing` with the item's name.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")/$2" 2>/dev/null || { echo "absent"; exit 0; }
tab=$(printf '\t')
while IFS="$tab" read -r name file bytes sum; do
  if [ ! -f "./$file" ]; then printf 'missing\t%s\n' "$name"
  elif [ "$(($(wc -c <"./$file")))" -eq "$bytes" ] && [ "$(sha256sum <"./$file" | cut -c 1-64)" = "$sum" ]; then printf 'whole\t%s\n' "$name"
  else printf 'changed\t%s\n' "$name"
  fi
done
