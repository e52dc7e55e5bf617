# shellcheck shell=sh
# Deletes releases in excess of the limit, and removes images that only they needed. Images that cannot be removed yet
# are listed in .berth/leaving and retried next time.
# prune KEEP FORGET: keeps the KEEP newest releases, but not FORGET.
prune() {
  dropped=" $({ numbers | tail -n "+$(($1 + 1))"; printf '%s\n' "$2"; } | tr '\n' ' ') "
  [ -f .berth/leaving ] || case $dropped in *[0-9]*) ;; *) return 0 ;; esac
  left=$(unused_images "$dropped")
  # Written first, so that an interruption loses nothing.
  printf '%s\n' "$left" | cat >.berth/leaving || return 1
  for release in $dropped; do rm -rf ".berth/releases/$release"; done
  if [ -n "$left" ]; then
    images_there=$(list_images 2>/dev/null) || return 1
    printf '%s\n' "$left" | while IFS= read -r line; do
      # shellcheck disable=SC2086 # An id and names without spaces.
      remove_image $line || printf '%s\n' "$line"
    done | cat >.berth/leaving.new && mv -f .berth/leaving.new .berth/leaving
  fi
  [ -s .berth/leaving ] && [ -n "$left" ] || rm -f .berth/leaving
}
