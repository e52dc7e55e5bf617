#!/bin/sh
# upload.sh DIRECTORY NAME MODE: stores stdin among the uploaded files of a deploy, and prints its size and sha256.
# Hashes the stored file, with openssl if available because it is several times faster. Hashing while storing with
# `tee` would be slower than both in sequence, since it moves the bytes in small pieces.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
file=$(path_of "$1")/.berth/incoming/$2
mkdir -p "$(dirname "$file")" || exit 1
umask 077
hash() {
  if openssl dgst -sha256 -r </dev/null >/dev/null 2>&1; then openssl dgst -sha256 -r; else sha256sum; fi
}
if ! said=$(cat 2>&1 >"$file"); then
  echo "$2: $said" >&2
  echo "$(df -Pk "$(dirname "$file")" | awk 'END { print $(NF - 2) }') KiB are free there" >&2
  exit 1
fi
chmod "$3" "$file" || exit 1
stat -c %s "$file" 2>/dev/null || wc -c <"$file"
hash <"$file"
