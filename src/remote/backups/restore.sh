#!/bin/sh
# restore.sh DIRECTORY BACKUP RUN DISCARD: puts the data of a backup back, as the plan on stdin says: the lines of
# parts/take.sh for the backup of what is replaced, and for each item a `restore` line NAME exec|volume SERVICE-OR-VOLUME
# RESTARTS, an `rword` line NAME for each argument of its command, and `stopExec` and `stopVolume` with services between
# commas. Every byte is compared with its hash before anything stops. A restore that fails leads back to what was. With
# DISCARD yes it goes on although that could not be kept first.
# Prints a `step` line for verify, keep, restore and end, a `kept` line with the number of the backup that it took, and
# `restored` lines. Fails with a `why` line, and a `state` line: unchanged, back or unknown.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/compose.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
sudo_text=$(cat "$(dirname "$0")/../../services/ssh/scripts/sudo.sh")
guard_text=$(cat "$(dirname "$0")/guard.sh")
. "$(dirname "$0")/parts/stopped.sh"
. "$(dirname "$0")/parts/swap.sh"
. "$(dirname "$0")/parts/take.sh"
trap '' HUP PIPE TERM
# shellcheck disable=SC2034 # What calls sudo asks for it.
berth_ignores=yes
backup=$2
run=$3
discard=$4
# shellcheck disable=SC2034 # A part reads it: what is gone cannot be kept.
lenient=yes
tab=$(printf '\t')
cd "$(path_of "$1")" 2>/dev/null || { because "there is no directory $1"; exit 1; }
here=$(pwd -P)
manifest=$(cat)
case $manifest in *"${tab}end") ;; *) because "the connection broke before anything was changed"; exit 1 ;; esac
about() { printf '%s\n' "$manifest" | sed -n "s/^$1$tab//p"; }
give_up() { because "$@"; printf 'state\tunchanged\n'; exit 1; }
as_root docker version --format '{{.Server.Version}}' </dev/null >/dev/null || exit 1
find_compose
exec 8>>.berth/activation || exit 1
flock -w 300 8 || give_up "a deploy to this directory has not ended"

# Volumes are of a name too.
foreign=$(stack_foreign) || give_up "the containers of the server could not be listed"
[ -z "$foreign" ] || give_up "another stack has the name of this one, and with it its volumes: $(printf '%s\n' "$foreign" | head -n 1 | sed "s/$tab/, container /")"

printf 'step\tverify\n'
for name in $(about restore | cut -f 1); do
  line=$(awk -F '\t' -v name="$name" '$1 == "data" && $2 == name' "$backups/$backup/manifest" 2>/dev/null)
  file=$backups/$backup/$(printf '%s\n' "$line" | cut -f 3)
  [ -n "$line" ] && [ -f "$file" ] || give_up "backup $backup has no $name"
  [ "$(compute_sha256 <"$file" | cut -c 1-64)" = "$(printf '%s\n' "$line" | cut -f 5)" ] ||
    give_up "$name of backup $backup is not what was written: its hash has changed, so it is not restored"
done

printf 'step\tkeep\n'
kept=
if said=$(take_backup restore 2>&1); then
  kept=$(printf '%s\n' "$said" | sed -n "s/^backup$tab//p")
  [ -z "$kept" ] || printf 'kept\t%s\n' "$kept"
elif [ "$discard" != yes ]; then
  give_up "what it replaces could not be kept first: $(printf '%s\n' "$said" | sed -n "s/^why$tab//p" | head -n 1)"
fi

printf 'step\trestore\n'
# Held until the end: guard.sh starts what is stopped, and puts volumes back, once it is free.
exec 7>>.berth/stopping
flock -w 300 7 || give_up "an earlier backup or restore here has not ended"
# shellcheck disable=SC2034 # Parts read it.
backup_file=$(stack_file)
project=$(stack_ps '{{.Label "com.docker.compose.project"}}' -a | sort -u | head -n 1)
rfield() { about restore | awk -F '\t' -v name="$1" -v number="$2" '$1 == name { print $number }'; }
# Unpacks beside the content of a volume and takes its place by renaming; the content before it stays beside it until the
# end of the restore.
replace_as_root() {
  beside=$(dirname "$data")
  as_root rm -rf "$beside/.berth-new" "$beside/.berth-before" </dev/null
  as_root mkdir "$beside/.berth-new" </dev/null || return 1
  owners=
  ! tar --version 2>/dev/null | grep -q GNU || owners=--numeric-owner
  # shellcheck disable=SC2086 # None or one word.
  gzip -dc "$1" | as_root tar $owners -xpf - -C "$beside/.berth-new" || {
    as_root rm -rf "$beside/.berth-new" </dev/null
    return 1
  }
  printf '%s\n' "$data" >>.berth/swapped || return 1
  as_root mv "$data" "$beside/.berth-before" </dev/null && as_root mv "$beside/.berth-new" "$data" </dev/null
}
# Without root a container of an image that the stack has does the same within the volume, and to its end by itself.
# shellcheck disable=SC2016 # The other shell expands it.
replace_within='cd /berth-data && rm -rf .berth-new .berth-before && mkdir .berth-new || exit 1
tar -xpf - -C .berth-new || { rm -rf .berth-new; exit 1; }
all() { find "$1" -mindepth 1 -maxdepth 1 ! -name .berth-new ! -name .berth-before; }
mkdir .berth-before || exit 1
all . | while IFS= read -r entry; do mv "$entry" .berth-before/ || exit 1; done &&
all .berth-new | while IFS= read -r entry; do mv "$entry" ./ || exit 1; done || {
  all . | while IFS= read -r entry; do rm -rf "$entry"; done
  all .berth-before | while IFS= read -r entry; do mv "$entry" ./; done
  exit 1
}
rm -rf .berth-new .berth-before'
replace_in_container() {
  # shellcheck disable=SC2046 # A list of ids.
  for image in $(as_root docker inspect --type container --format '{{.Image}}' $(all_containers) </dev/null | sort -u); do
    as_root docker run --rm --network none --user 0 --entrypoint sh "$image" -c 'command -v tar && command -v find' >/dev/null 2>&1 </dev/null || continue
    gzip -dc "$1" | as_root docker run --rm -i --network none --user 0 --entrypoint sh -v "$volume:/berth-data" "$image" -c "$replace_within"
    return
  done
  echo "the user of this server is not root, and no image of the stack has sh, tar and find: useSudo would do" >&2
  return 1
}
# put NAME BACKUP
put() {
  file=$backups/$2/$1.gz
  target=$(rfield "$1" 3)
  if [ "$(rfield "$1" 2)" = volume ]; then
    volume_named "$target" || { echo "the stack has no volume $target here: start it once, which makes it"; return 1; }
    data=$(as_root docker volume inspect --format '{{if not .Options}}{{.Mountpoint}}{{end}}' "$volume" </dev/null)
    if [ -n "$data" ] && as_root test -w "$data/." </dev/null; then replace_as_root "$file"; else replace_in_container "$file"; fi
    return
  fi
  container=$(docker_ids "$target" | awk '$3 == "Up" { print $1; exit }')
  [ -n "$container" ] || { echo "the service $target does not run"; return 1; }
  (exec 6>&- 7>&- 8>&-; gzip -dc "$file" | run_in "$container" rword "$1") || return 1
  [ "$(rfield "$1" 4)" != yes ] || compose_stack "$backup_file" restart "$target" </dev/null
}
# lead_back ITEM…: the data before it comes back, where it was kept. A volume that swap_back has led back must not be
# replaced once more: what its services write from now on would go with the next swap_back.
lead_back() {
  state=back
  swapped=$(cat .berth/swapped 2>/dev/null)
  swap_back || state=unknown
  for name do
    ! was_swapped "$name" || continue
    [ -n "$kept" ] && [ -f "$backups/$kept/$name.gz" ] && put "$name" "$kept" >/dev/null 2>&1 || state=unknown
  done
}
was_swapped() {
  [ "$(rfield "$1" 2)" = volume ] && volume_named "$(rfield "$1" 3)" || return 1
  data=$(as_root docker volume inspect --format '{{.Mountpoint}}' "$volume" </dev/null)
  [ -n "$data" ] && printf '%s\n' "$swapped" | grep -qxF -e "$data"
}
restored=
for kind in exec volume; do
  names=$(about restore | awk -F '\t' -v kind="$kind" '$2 == kind { print $1 }')
  [ -n "$names" ] || continue
  stops=$(about "$([ "$kind" = exec ] && echo stopExec || echo stopVolume)")
  failure=$(stop_services "${stops:--}") || failure=$(printf '%s\n' "$failure" | sed "s/^why$tab//")
  for name in $names; do
    [ -z "$failure" ] || break
    if said=$(put "$name" "$backup" 2>&1); then
      printf 'restored\t%s\n' "$name"
      restored="$restored $name"
    else
      failure="$name could not be restored: $(printf '%s\n' "$said" | tail -n 3 | tr '\n' ' ')"
      [ "$kind" = volume ] || restored="$restored $name"
    fi
  done
  if [ -n "$failure" ]; then
    # shellcheck disable=SC2086 # A list of names.
    lead_back $restored
    started=$(start_stopped) || failure="$failure; $started"
    because "$failure"
    printf 'state\t%s\n' "$state"
    exit 1
  fi
done
replaced=$(cat .berth/swapped 2>/dev/null)
rm -f .berth/swapped
started=$(start_stopped) || { because "the data is restored, $started"; printf 'state\trestored\n'; exit 1; }
printf '%s\n' "$replaced" | while IFS= read -r data; do
  [ -z "$data" ] || as_root rm -rf "$(dirname "$data")/.berth-before" </dev/null
done
printf 'step\tend\n'
