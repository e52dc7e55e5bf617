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
    [ -e "./$name" ] || mkdir -p "./$name" || exit 1
  done || return 1
  build_anew
}
# Builds the images of services whose files or section changed, which compose would not: it builds only missing ones.
# Those of before run on, and stay for a rollback.
build_anew() {
  # shellcheck disable=SC2046 # Names of services, without spaces.
  set -- $(about build | awk -F '\t' '$3 == "anew" { print $1 }')
  [ "$#" -gt 0 ] || return 0
  hold_built || return 1
  compose_stack "$compose_file" build "$@" </dev/null
  build_code=$?
  note_built || return 1
  [ "$build_code" -eq 0 ] || { echo "$* could not be built"; return 1; }
}
# Notes what was built, so that it goes with the next release that does not need it, also if this deploy fails.
note_built() {
  # shellcheck disable=SC2046 # Names of images, without spaces.
  name_ids $(about build | cut -f 2 | sort -u) | while read -r id name; do
    grep -qxF "$id $name" .berth/names || printf '%s %s\n' "$id" "$name" >>.berth/leaving || exit 1
  done
}
# Names the images that releases here have and that Berth has not brought, as those take the names away.
hold_built() {
  built_prefix=$(prefix_here)
  about build | cut -f 2 | sort -u | while IFS= read -r name; do
    id=$(awk -v name="$name" '$2 == name { print $1; exit }' .berth/names)
    [ -n "$id" ] || continue
    for release_note in .berth/releases/[0-9]*/note; do
      grep -q "^image$tab$id$tab.*${tab}found$" "$release_note" 2>/dev/null || continue
      as_root docker tag "$id" "$built_prefix$(printf '%s' "${id#sha256:}" | cut -c 1-12)" </dev/null || exit 1
      sed "/^image$tab$id$tab/s/found$/kept/" "$release_note" >"$release_note.new" && mv -f "$release_note.new" "$release_note" || exit 1
    done
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
