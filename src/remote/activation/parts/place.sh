# shellcheck shell=sh
# Moves the uploaded files into place; restore_files reverts this.
wait
old=$(cat .berth/old)
placed=
place() {
  rm -f .berth/before
  [ ! -f .berth/current ] || mv -f .berth/current .berth/before || return 1
  while IFS= read -r name; do
    mkdir -p "$(dirname "$name")" "$(dirname "$previous/$name")" || return 1
    if [ -e "$name" ]; then ln "$name" "$previous/$name" 2>/dev/null || cp -p "$name" "$previous/$name" || return 1
    else : >"$previous/$name.absent" || return 1
    fi
    mv -f "$staged/$name" "$name" || return 1
  done <.berth/files
  while IFS= read -r name; do
    if [ -L "./$name" ] || [ ! -f "./$name" ]; then continue; fi
    mkdir -p "$(dirname "$previous/$name")" && mv -f "./$name" "$previous/$name" || return 1
  done <.berth/gone
}
# Keeps loaded images for another attempt; they are removed with the next release that does not need them.
note_brought() {
  [ "$store" = docker ] && grep -qx ok .berth/present 2>/dev/null || return 0
  # shellcheck disable=SC2086 # A list of names without spaces.
  set -- $subjects
  for id in $ids; do
    grep -q "^$id " .berth/present || printf '%s %s\n' "$id" "$1" >>.berth/leaving
    shift
  done
}
