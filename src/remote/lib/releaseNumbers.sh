# shellcheck shell=sh
# Prints the numbers of the releases, newest first.
numbers() {
  for note in .berth/releases/[0-9]*/note; do
    release=${note%/note}
    [ ! -f "$note" ] || printf '%s\n' "${release##*/}"
  done | sort -rn
}
