# shellcheck shell=sh
# Volumes whose content a restore has replaced, but not yet for good. .berth/swapped lists their directories; the content
# before it is beside each, as .berth-before.
# swap_back: puts the content before it back, after a restore that did not come to its end.
swap_back() {
  [ -s .berth/swapped ] || return 0
  while IFS= read -r data; do
    beside=$(dirname "$data")
    as_root test -d "$beside/.berth-before" </dev/null || continue
    as_root rm -rf "$beside/.berth-new" </dev/null
    ! as_root test -e "$data" </dev/null || as_root mv "$data" "$beside/.berth-new" </dev/null || return 1
    as_root mv "$beside/.berth-before" "$data" </dev/null || return 1
    as_root rm -rf "$beside/.berth-new" </dev/null
  done <.berth/swapped
  rm -f .berth/swapped
}
