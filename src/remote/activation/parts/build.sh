# shellcheck shell=sh
# Builds the images of the manifest's `build` lines with `now` in the third field, which compose would not build anew, while
# the version before runs. Their context is a copy of what the project has: neither data nor releases nor files that the
# project has lost get into an image. The images of before stay for a rollback.
context_home=$(pwd -P)/.berth/context
# Makes the copy under the name of this directory, after which compose names the images, and over a link if that leads here.
# Files that only the server has and compose reads belong to it, and a link to the secrets, which builds may mount.
make_context() {
  rm -rf "$context_home"
  context_place=$context_home/of/$(basename "$(pwd -P)")
  mkdir -p "$context_place" || return 1
  context_called=$context_home/of/$(basename "$PWD")
  [ "$context_called" = "$context_place" ] || ln -s "$context_place" "$context_called" || return 1
  [ ! -d .secrets ] || ln -s "$(pwd -P)/.secrets" "$context_place/.secrets" || return 1
  printf '%s\n' "$manifest" | grep -e "^compose$tab" -e "^profile$tab" -e "^project$tab" -e "^variables$tab" >"$context_home/stack" || return 1
  {
    sed 's,^\./,,' .berth/files
    echo /
    for kind in compose env file large; do about "$kind"; done
    { echo .env; expected_about read; } | while IFS= read -r name; do
      [ ! -f "./$name" ] || grep -qxF -e "$name" .berth/gone || printf '%s\n' "$name"
    done
  } | awk '
    $0 == "/" { all = 1; next }
    !all { staged[$0] = 1; next }
    !/^\.secrets\// && !seen[$0]++ { print ($0 in staged ? "staged" : "here") "\t" $0 }' >"$context_home/names" || return 1
  copy_names staged "$staged" && copy_names here . || return 1
  # docker-compose 1.x refuses a service whose build directory is missing.
  { about context; expected_about context; } | while IFS= read -r name; do mkdir -p "$context_place/$name" || exit 1; done
}
expected_about() { [ -z "$checking" ] || printf '%s\n' "$check_expected" | sed -n "s/^$1$tab//p"; }
# copy_names KIND FROM: links the files, or copies them where that fails.
copy_names() {
  (
    cd "$2" && sed -n "s/^$1$tab//p" "$context_home/names" | tr '\n' '\0' >"$context_home/list" || exit 1
    # shellcheck disable=SC2016 # The other shell expands it.
    xargs -0 -r sh -c 'to=$0; cp -pl --parents -- "$@" "$to"' "$context_place" <"$context_home/list" 2>/dev/null && exit 0
    tr '\0' '\n' <"$context_home/list" | sed 's,^,./,' | tar -cf - -T - | tar -xpf - -C "$context_place"
  )
}
is_taken_back() { [ "$(cat .berth/stop 2>/dev/null)" = "$run" ]; }
# Ends the programs that a process has started and that have started no other ones: those wait for them.
end_last() {
  # shellcheck disable=SC2046 # A list of numbers.
  as_root kill -9 $(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/ (.*) / x /' | awk -v top="$1" '
    { parent[$1] = $4 }
    END {
      for (id in parent) {
        for (at = id; at in parent && at != top && at > 1;) at = parent[at]
        if (at == top && id != top) { found[id] = 1; has[parent[id]] = 1 }
      }
      for (id in found) if (!(id in has)) print id
    }')
}
run_build() {
  make_context && hold_built || return 1
  # shellcheck disable=SC2034 # For compose_stack.
  stack_home=$context_home
  # shellcheck disable=SC2086 # Names of services, without spaces.
  (cd "$context_called" && compose_stack "$compose_file" build $to_build </dev/null) &
  build_id=$!
  (
    exec 5>&- 8>&-
    while kill -0 "$build_id"; do
      ! is_taken_back || end_last "$build_id"
      sleep 0.5 || sleep 1
    done
  ) >/dev/null 2>&1 </dev/null &
  wait "$build_id"
}
# Notes what was built, so that it goes with the next release that does not need it, also if this deploy fails.
note_built() {
  # shellcheck disable=SC2046 # Names of images, without spaces.
  name_ids $(about build | cut -f 2 | sort -u) | while read -r id name; do
    grep -qxF "$id $name" .berth/names || printf '%s %s\n' "$id" "$name" >>.berth/leaving || exit 1
  done
}
# Names the images that releases here have and that Berth has not brought, as those that are built take the names away.
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
build_failed() {
  note_brought 2>/dev/null
  restore_names .berth/names
  failed build yes
}
to_build=$(about build | awk -F '\t' '$3 == "now" { printf "%s ", $1 }')
if [ -n "$to_build" ]; then
  said=$(report loaded run_build)
  code=$?
  rm -rf "$context_home"
  note_built 2>/dev/null
  ! is_taken_back || said="it was taken back"
  [ "$code" -eq 0 ] && ! is_taken_back || build_failed
fi
