# shellcheck shell=sh
# Writes a release of the directory from the manifest.
# keep_files OPTIONS: copies the files named on stdin; fails if cp does not support --parents.
# shellcheck disable=SC2016 # The other shell expands it.
keep_files() { tr '\n' '\0' | xargs -0 -r sh -c 'cp "$0" --parents -- "$@" .berth/releases/.new/files' "$1"; }
copied() { for kind in compose env file; do about "$kind"; done; }
# Large files become hard links, which take no space and are safe because files are not edited in place.
# write_release NUMBER IMAGES: makes it the current one; IMAGES are the `image` lines of its note.
write_release() {
  new=.berth/releases/.new
  rm -rf "$new"
  mkdir -p "$new/files" || return 1
  {
    printf 'at\t%s\nrun\t%s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$run"
    printf '%s\n' "$2" | grep "^image$tab"
    printf '%s\n' "$manifest"
  } | cat >"$new/note" || return 1
  if ! { copied | keep_files -p && about large | keep_files -pl; } 2>/dev/null; then
    rm -rf "$new/files"
    mkdir "$new/files" || return 1
    { copied; about large; } | sed 's,^,./,' | tar -cf - -T - | tar -xpf - -C "$new/files" || return 1
  fi
  [ "$(find "$new/files" -type f | wc -l)" -eq "$({ copied; about large; } | sort -u | wc -l)" ] ||
    { echo "not all of its files could be copied" >&2; return 1; }
  printf '%s\n' "$1" | cat >.berth/releases/last && printf '%s\n' "$1" | cat >.berth/current.new || return 1
  mv "$new" ".berth/releases/$1" && mv -f .berth/current.new .berth/current
}
next_number() { { numbers; cat .berth/releases/last; } 2>/dev/null | awk '$1 + 0 > last { last = $1 + 0 } END { print last + 1 }'; }
