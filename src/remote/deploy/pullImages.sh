#!/bin/sh
# pullImages.sh DIRECTORY STORE NAME…: pulls images for the stack in a directory from their registries. Prints a `pull`
# line before each; on a failure, prints a `refused` line with the name and restores all names.
# With STORE containerd, an image without a name is dropped, so replaced images keep a temporary one until the end of
# the next activation.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/images.sh"
cd "$(path_of "$1")" || exit 1
store=$2
shift 2
before=$(name_ids "$@")
[ "$store" != containerd ] || printf '%s\n' "$before" | keep_images
for name do
  printf 'pull\t%s\n' "$name"
  as_root docker pull "$name" </dev/null && continue
  printf '%s\n' "$before" | while read -r id other; do
    [ -z "$other" ] || as_root docker tag "$id" "$other" </dev/null >/dev/null 2>&1
  done
  printf 'refused\t%s\n' "$name"
  exit 1
done
