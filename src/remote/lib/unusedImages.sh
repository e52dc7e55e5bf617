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
    # An id becomes a part of programs: containers may write here.
    ($1 == "image" ? $2 : $1) !~ /^sha256:[0-9a-f]+( .*)?$/ { next }
    $1 == "image" && !is_dropped { needed[$2] = 1 }
    $1 == "image" && is_dropped && $4 == "brought" { own[$2] = own[$2] ($3 == $2 ? "" : " " $3) }
    $1 == "image" && is_dropped && $4 == "kept" { own[$2] = own[$2] "" }
    $1 ~ /^sha256:/ {
      split($1, words, " ")
      own[words[1]] = own[words[1]] substr($1, length(words[1]) + 1)
    }
    END { for (id in own) if (!(id in needed)) print id own[id] }' "$@"
}
# image_fate ID NAME…: judges an image of which Berth has these names, by $images_there. Sets $fate to missing; named, with
# a name of others in $fate_by; used, with a container in $fate_by that is none of $fate_without; or goes, with $names_now.
image_fate() {
  unused_id=$1
  shift
  berths_name=$release_prefix$(printf '%s' "${unused_id#sha256:}" | cut -c 1-12)
  names_now=$(printf '%s\n' "$images_there" | sed -n "s/^$unused_id //p" | grep -vxF '<none>:<none>')
  fate=missing
  fate_by=
  [ -n "$names_now" ] || printf '%s\n' "$images_there" | grep -q "^$unused_id " || return 0
  for name in $names_now; do
    case " $* $berths_name " in
      *" $name "*) ;;
      *)
        fate=named
        fate_by=$name
        return 0 ;;
    esac
  done
  fate_by=$(as_root docker ps -a --no-trunc --filter "ancestor=$unused_id" --format '{{.ID}} {{.Names}}' </dev/null |
    awk -v without=" ${fate_without:-} " 'index(without, " " $1 " ") == 0 { print $2; exit }')
  fate=goes
  [ -z "$fate_by" ] || fate=used
}
# remove_image ID NAME…: fails if a container uses the image.
remove_image() {
  image_fate "$@"
  case $fate in
    # Remove only Berth's own name if the image has another one.
    named) docker_quietly rmi "$berths_name" || : ;;
    used) return 1 ;;
    goes)
      # shellcheck disable=SC2086 # A list of names without spaces.
      docker_quietly rmi ${names_now:-"$unused_id"} ;;
  esac
}
