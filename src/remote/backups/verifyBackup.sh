#!/bin/sh
# verifyBackup.sh DIRECTORY NUMBER: reads a backup and compares each of its files with the hash in its manifest. Prints a
# line for each: `whole`, `changed` or `missing` with the item's name.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")/.berth/backups/$2" 2>/dev/null || { echo "absent"; exit 0; }
tab=$(printf '\t')
sed -n "s/^data$tab//p" manifest | while IFS="$tab" read -r name file bytes sum _; do
  if [ ! -f "./$file" ]; then printf 'missing\t%s\n' "$name"
  elif [ "$(($(wc -c <"./$file")))" -eq "$bytes" ] && [ "$(sha256sum <"./$file" | cut -c 1-64)" = "$sum" ]; then printf 'whole\t%s\n' "$name"
  else printf 'changed\t%s\n' "$name"
  fi
done
