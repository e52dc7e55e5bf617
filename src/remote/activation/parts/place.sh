# shellcheck shell=sh
# Moves the uploaded files into place; restore_files reverts this.
wait
old=$(cat .berth/old)
placed=
# Notes how compose is called for the new version, and which services see a file that changes: their containers keep the
# file that was replaced.
note_stack() {
  if [ -f .berth/stack ]; then cp -p .berth/stack .berth/stack.before || return 1
  else : >.berth/stack.before || return 1
  fi
  [ -z "$(about compose)" ] || printf '%s\n' "$manifest" | grep -e "^compose$tab" -e "^profile$tab" -e "^project$tab" -e "^variables$tab" | note stack || return 1
  { sed 's,^\./,,' .berth/files; cat .berth/gone; echo /; about mount; } | awk '
    $0 == "/" { mounts = 1; next }
    !mounts {
      changed[$0] = 1
      count = split($0, parts, "/")
      above = parts[1]
      for (at = 2; at <= count; at++) { changed[above] = 1; above = above "/" parts[at] }
      next
    }
    { service = $0; sub(/\t.*/, "", service); path = substr($0, length(service) + 2) }
    path in changed && !seen[service]++ { print service }' | note remount
}
place() {
  note_stack || return 1
  rm -f .berth/before
  [ ! -f .berth/current ] || mv -f .berth/current .berth/before || return 1
  while IFS= read -r name; do
    # Secret files can be read by every user, so that users in containers can; the directory keeps the others out.
    case $name in
      ./.secrets/*) [ ! -L .secrets ] && mkdir -p .secrets && chmod 700 .secrets || return 1 ;;
    esac
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
  # docker-compose 1.x refuses a service whose build directory is missing, even if nothing is built.
  about context | while IFS= read -r name; do
    [ -e "./$name" ] || mkdir -p "./$name" || return 1
  done
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
# Ends the deploy, before anything is replaced.
refuse_start() {
  rm -f .berth/foreign .berth/differences
  note_brought 2>/dev/null
  restore_names .berth/names
  failed config yes
}
case $(cat .berth/foreign 2>/dev/null) in
  surveyed) ;;
  *) said=$(sed -e '$d' -e "s/^/foreign$tab/" .berth/foreign) && refuse_start ;;
esac
[ -z "$checking" ] || check_end
