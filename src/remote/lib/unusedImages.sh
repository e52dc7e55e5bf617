# shellcheck shell=sh
# Images that only some releases of the directory need: brought by Berth, not used by a container or another release, and
# without any other name. Of images that it keeps since an adoption, Berth removes its own name. .berth/leaving lists those
# that could not be removed with their releases, with an id and their own names per line.
# unused_images DROPPED: those lines, for releases that are numbers between blanks.
unused_images() {
  to_drop=$1
  set --
  for note in .berth/leaving .berth/releases/[0-9]*/note; do
    [ ! -f "$note" ] || set -- "$@" "$note"
  done
  [ "$#" -gt 0 ] || return 0
  awk -F '\t' -v dropped="$to_drop" '
    FNR == 1 {
      parts = split(FILENAME, path, "/")
      is_dropped = index(dropped, " " path[parts - 1] " ") > 0
    }
    $1 == "image" && !is_dropped { needed[$2] = 1 }
    $1 == "image" && is_dropped && $4 == "brought" { own[$2] = own[$2] ($3 == $2 ? "" : " " $3) }
    $1 == "image" && is_dropped && $4 == "kept" { own[$2] = own[$2] "" }
    $1 ~ /^sha256:/ {
      split($1, words, " ")
      own[words[1]] = own[words[1]] substr($1, length(words[1]) + 1)
    }
    END { for (id in own) if (!(id in needed)) print id own[id] }' "$@"
}
# remove_image ID NAME…: fails if a container uses the image.
remove_image() {
  unused_id=$1
  shift
  berths_name=$release_prefix$(printf '%s' "${unused_id#sha256:}" | cut -c 1-12)
  names_now=$(printf '%s\n' "$images_there" | sed -n "s/^$unused_id //p" | grep -vxF '<none>:<none>')
  [ -n "$names_now" ] || printf '%s\n' "$images_there" | grep -q "^$unused_id " || return 0
  for name in $names_now; do
    case " $* $berths_name " in
      *" $name "*) ;;
      # Remove only Berth's own name if the image has another one.
      *)
        as_root docker rmi "$berths_name" </dev/null >/dev/null 2>&1
        return 0 ;;
    esac
  done
  [ -z "$(as_root docker ps -aq --filter "ancestor=$unused_id" </dev/null)" ] || return 1
  # shellcheck disable=SC2086 # A list of names without spaces.
  as_root docker rmi ${names_now:-"$unused_id"} </dev/null >/dev/null 2>&1
}
