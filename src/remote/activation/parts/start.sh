# shellcheck shell=sh
# Starts the stack, or restores everything and reports the failure.
printf 'step\tstart\n'
start() {
  [ -n "$placed" ] || place || return 1
  stop_orphans && bring_up
}
bring_up() { compose_stack "$compose_file" up -d </dev/null && remount kept; }
said=$(report started start)
code=$?
# Containers start beside each other: one may need a port that another one has until that is recreated.
case $code:$said in
  0:*) ;;
  *"port is already allocated"*)
    said=$(report started bring_up)
    code=$?
    ;;
esac
if [ "$code" -ne 0 ]; then
  note_brought 2>/dev/null
  if put_back; then failed start yes; fi
  said=$(printf '%s\n\n%s\n%s' "$said" "and what ran before did not start again:" "$again")
  failed start no
fi
# Prints warnings of compose; docker-compose 1.x does not mark them without a terminal.
printf '%s\n' "$said" | LC_ALL=C sed -n -e "/level=warning/s/^/warning$tab/p" -e "s/^WARNING: /warning$tab/p" \
  -e "/ variable is not set\. /!{/^Python-dotenv could not /!d}" -e "/level=warning/d" -e "/^warning$tab/d" -e "s/^/warning$tab/p" |
  head -n 20 | cut -c 1-1000
[ -z "$check_warning" ] || printf 'warning\t%s\n' "$check_warning"
while IFS= read -r name; do
  [ ! -f "$previous/$name" ] || printf 'removed\t%s\n' "$name"
done <.berth/gone
drop_orphans
cp .berth/brought .berth/deployed
rm -f .berth/stack.before
printf 'step\thealth\n'
rm -rf "$staged" "$previous"
# Leaves at most one archive in the directory: the loaded one.
settle_archive() {
  kept=
  [ ! -f .berth/archive ] || IFS= read -r kept <.berth/archive
  case $kept in */*) kept= ;; esac
  if [ "$source" = file ]; then
    [ "$kept" != "$archive" ] || kept=
    printf '%s\n' "$archive" >.berth/archive
  else
    [ -z "$archive" ] || rm -f "./$archive"
    rm -f .berth/archive
  fi
  [ -z "$kept" ] || rm -f "./$kept"
}
[ "$source" = none ] || settle_archive
if [ "$compose_kind" = v1 ] && [ "$compose_version" != 1.x ]; then
  { find_program && LC_ALL=C ls -lLd "$(command -v "$compose_program")" && printf '%s\n' "$compose_version"; } >.berth/compose 2>/dev/null
fi
now=$(containers_here) || now=$(containers "$compose_file")
printf '%s\n' "$now" >.berth/containers
if [ -z "$(about again)" ]; then came_to started; else came_to undone; fi
# shellcheck disable=SC2086 # A list of ids.
inspect $now
