/** Moves the files into place and starts the stack, or puts everything back and says why not. */
export const startScript = `
wait
old=$(cat .berth/old)
printf 'step\\tstart\\n'
start() {
  while IFS= read -r name; do
    mkdir -p "$(dirname "$name")" "$(dirname "$previous/$name")" || return 1
    if [ -e "$name" ]; then ln "$name" "$previous/$name" 2>/dev/null || cp -p "$name" "$previous/$name" || return 1
    else : >"$previous/$name.absent" || return 1
    fi
    mv -f "$staged/$name" "$name" || return 1
  done <.berth/files
  compose -f "$compose_file" up -d </dev/null
}
if ! said=$(start 2>&1); then
  if [ -s .berth/running ]; then
    restore_files
    restore_names .berth/names
    restore_names .berth/running
    restore_containers
    if again=$(compose -f "$old_file" up -d 2>&1 </dev/null); then failed start yes; fi
    said=$(printf '%s\\n\\n%s\\n%s' "$said" "and what ran before did not start again:" "$again")
    failed start no
  fi
  # Nothing ran before, so nothing is left running; volumes stay.
  if [ -z "$old" ]; then compose -f "$compose_file" down </dev/null >/dev/null 2>&1
  else compose -f "$compose_file" stop </dev/null >/dev/null 2>&1
  fi
  restore_files
  restore_names .berth/names
  failed start yes
fi
rm -rf "$staged" "$previous"
# The archive that lies here holds what runs, or there is none.
settle_archive() {
  kept=
  kept_ids=
  [ ! -f .berth/archive ] || { IFS= read -r kept; IFS= read -r kept_ids; } <.berth/archive
  case $kept in */*) kept= ;; esac
  if [ "$source" = names ] && [ -n "$kept" ] && [ "$kept_ids" = "$ids" ] && [ -f "./$kept" ]; then
    [ -n "$(find "./$kept" -newer .berth/archive)" ] || return 0
  fi
  case $source in
    file | both)
      [ "$kept" = "$archive" ] || [ -z "$kept" ] || rm -f "./$kept"
      printf '%s\\n%s\\n' "$archive" "$ids" >.berth/archive ;;
    *)
      [ -z "$kept" ] || rm -f "./$kept"
      rm -f "./$archive" .berth/archive ;;
  esac
}
[ "$source" = none ] || settle_archive
[ "$compose_kind" != v1 ] || { LC_ALL=C ls -lLd "$(command -v docker-compose)" && printf '%s\\n' "$compose_version"; } >.berth/compose 2>/dev/null
# The compose file and .env decide what a project is called.
if grep -qxF -e "./$compose_file" -e ./.env .berth/files || ! now=$(known_containers); then
  now=$(containers "$compose_file")
  for id in $now; do
    as_root docker inspect --type container --format '{{index .Config.Labels "com.docker.compose.project"}}' "$id" >.berth/project 2>/dev/null </dev/null
    break
  done
fi
look $now
printf 'step\\thealth\\n'
`
