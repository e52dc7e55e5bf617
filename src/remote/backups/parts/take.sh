# shellcheck shell=sh
# Takes a backup of the items that the plan in $manifest describes (about KEY prints its values), into
# .berth/backups/<number>: under a temporary name, hashed while it is written, and listed only when it is whole.
# Lines of the plan, separated by tabs:
# `item` NAME exec|volume SERVICE-OR-VOLUME STOP ALLOW-EMPTY, where STOP is - or services separated by commas;
# `word` NAME and `check` NAME, an argument each behind an x, of the dump and of what proves that it can be read;
# `note`, a line for the backup's own manifest; `keepBackups`, how many remain.
# Prints a `backup` line with the number, and a `taken` line with name, bytes and seconds for each item; `skipped` and
# `remark` lines with a name and a reason. Fails with the reason as a `why` line.
backups=.berth/backups
# The caller may be gone, and what follows is done all the same.
# shellcheck disable=SC2059 # Each format is written out where it is called.
tell() { printf "$@" 2>/dev/null || :; }
because() { printf 'why\t%s\n' "$*" | tr -d '\r' | cut -c 1-1500; }
# The number of each whole backup, newest first.
backup_numbers() {
  for whole in "$backups"/[0-9]*/manifest; do
    whole=${whole%/manifest}
    [ ! -f "$whole/manifest" ] || printf '%s\n' "${whole##*/}"
  done | sort -rn
}
# field NAME NUMBER: a field of an item's line.
field() { about item | awk -F '\t' -v name="$1" -v number="$2" '$1 == name { print $number }'; }
# Arguments of an item's command, as a list for `set --`: each is read as a line, and the x keeps an empty one.
run_in() {
  run_container=$1
  run_key=$2
  run_item=$3
  set --
  while IFS= read -r run_word; do
    [ -z "$run_word" ] || set -- "$@" "${run_word#x}"
  done <<WORDS
$(about "$run_key" | awk -F '\t' -v name="$run_item" '$1 == name { sub(/^[^\t]*\t/, ""); print }')
WORDS
  as_root docker exec -i "$run_container" "$@"
}
# guard: starts the program that starts the services again, before the first one is stopped. It must not hold the locks
# of this script, nor its connection.
start_guard() {
  in_session=setsid
  command -v setsid >/dev/null || in_session=
  guard_prefix='as_root() { "$@"; }'
  ! command -v berth_sudo >/dev/null || guard_prefix=$sudo_text
  # shellcheck disable=SC2086 # None or one word.
  printf '%s\n' "${berth_password:-}" | (
    exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    exec $in_session sh -c "$guard_prefix
$guard_text" sh "$here"
  ) >/dev/null 2>&1 &
}
# stop_services SERVICES: stops those of a list with commas that run.
stop_services() {
  [ "$1" != - ] || return 0
  to_stop=
  for service in $(printf '%s\n' "$1" | tr ',' ' '); do
    ! is_up "$service" || to_stop="$to_stop $service"
  done
  [ -n "$to_stop" ] || return 0
  noted=$(tail -n +3 .berth/stopped 2>/dev/null)
  # shellcheck disable=SC2086 # A list of service names without spaces.
  printf '%s\n' "$compose_kind" "$backup_file" $noted $to_stop | cat >.berth/stopped 2>/dev/null || { because "so .berth/stopped could not be noted: is the disk full?"; rm -f .berth/stopped; return 1; }
  start_guard
  # shellcheck disable=SC2086 # A list of service names without spaces.
  said=$(act_on stop "$backup_file" $to_stop 2>&1) || {
    because "$to_stop could not be stopped: $(printf '%s\n' "$said" | tail -n 1)"
    start_stopped >/dev/null
    return 1
  }
}
# Hash of stdin. That of openssl takes a sixth of the time where the processor has instructions for it, and the dump has
# to share the processor.
compute_sha256() {
  if command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r; else sha256sum; fi
}
# stream FILE COMMAND…: writes what a command prints, packed, and sets `codes` to the exit code of each part and `sum` to
# the hash. Nothing in it holds the lock, so that it does not look unfinished once this script is dead.
stream() {
  out=$1
  shift
  told=$(
    exec 6>&- 7>&- 8>&-
    {
      {
        { "$@" 2>&4 </dev/null; printf 'dump %s\n' "$?" >&3; } |
          { gzip -1 2>&4; printf 'pack %s\n' "$?" >&3; } |
          { tee "$out" 2>&4; printf 'write %s\n' "$?" >&3; } |
          { compute_sha256 | sed 's/ .*//; s/^/sum /' >&3; }
      } 4>&1 | tail -n 5 | cut -c 1-400 | sed 's/^/said /' >&3
    } 3>&1
  )
  sum=$(printf '%s\n' "$told" | sed -n 's/^sum //p')
  words=$(printf '%s\n' "$told" | sed -n 's/^said //p' | tail -n 3 | tr '\n' ' ')
  dump_code=$(printf '%s\n' "$told" | sed -n 's/^dump //p')
  write_codes=$(printf '%s\n' "$told" | sed -n -e 's/^pack //p' -e 's/^write //p' | tr '\n' ' ')
}
# The volume of this stack with a key of the compose file, by the labels of compose; or one by its name that a container
# of the stack mounts. Never one that is not there: Docker would make an empty one.
volume_named() {
  volume=$(as_root docker volume ls -q --filter "label=com.docker.compose.project=$project" --filter "label=com.docker.compose.volume=$1" </dev/null | head -n 1)
  [ -z "$volume" ] || return 0
  # shellcheck disable=SC2046 # A list of ids.
  volume=$(as_root docker inspect --type container --format '{{range .Mounts}}{{if eq .Type "volume"}}{{println .Name}}{{end}}{{end}}' $(all_containers) 2>/dev/null </dev/null | grep -xF -e "$1" | head -n 1)
  [ -n "$volume" ]
}
all_containers() { stack_ps '{{.ID}}' -a; }
known_volumes() {
  as_root docker volume ls --filter "label=com.docker.compose.project=$project" --format '{{.Label "com.docker.compose.volume"}}' </dev/null | sort -u | head -n 20 | tr '\n' ' ' | sed -e 's/ $//' -e 's/ /, /g'
}
# Root reads a volume where Docker keeps it; without root, and for one that Docker mounts by itself, Docker copies it out
# of a container that has it. Nothing is pulled or started for it.
read_volume() {
  data=$(as_root docker volume inspect --format '{{if not .Options}}{{.Mountpoint}}{{end}}' "$volume" </dev/null)
  if [ -n "$data" ] && as_root test -r "$data/." </dev/null; then
    if tar --version 2>/dev/null | grep -q GNU; then as_root tar --numeric-owner -S -C "$data" -cf - .
    else as_root tar -C "$data" -cf - .
    fi
    return
  fi
  for id in $(all_containers); do
    place=$(as_root docker inspect --type container --format '{{range .Mounts}}{{if eq .Type "volume"}}{{println .Name .Destination}}{{end}}{{end}}' "$id" </dev/null | awk -v name="$volume" '$1 == name { sub(/^[^ ]* /, ""); print; exit }')
    [ -n "$place" ] || continue
    as_root docker cp "$id:$place/." -
    return
  done
  echo "no container has the volume $volume, and without root it cannot be read" >&2
  return 1
}
# take_item NAME
take_item() {
  item=$1
  target=$(field "$item" 3)
  began=$(date +%s)
  data_file=$backups/.new/$item.gz
  case $(field "$item" 2) in
    exec)
      container=$(docker_ids "$target" | awk '$3 == "Up" { print $1; exit }')
      if [ -z "$container" ]; then
        if [ -n "$lenient" ] && [ -z "$(docker_ids "$target")" ]; then
          tell 'skipped\t%s\t%s has no container yet\n' "$item" "$target"
          return 0
        fi
        because "$item: the service $target does not run, so nothing can be dumped in it"
        return 1
      fi
      stream "$data_file" run_in "$container" word "$item" ;;
    volume)
      if ! volume_named "$target"; then
        if [ -n "$lenient" ]; then
          tell 'skipped\t%s\tthere is no volume %s yet\n' "$item" "$target"
          return 0
        fi
        has=$(known_volumes)
        because "$item: the stack has no volume $target here. It has: ${has:-none}"
        return 1
      fi
      stream "$data_file" read_volume
      # A file that changes while it is read is the choice of who copies without stopping.
      if [ "$dump_code" = 1 ] && [ "$(field "$item" 4)" = - ] && printf '%s' "$words" | grep -q 'file changed as we read it'; then
        tell 'remark\t%s\tfiles changed while they were copied: name under "stop" the services that write them\n' "$item"
        dump_code=0
      fi ;;
  esac
  case $write_codes in
    "0 0 ") ;;
    *) because "$item could not be written: ${words:-is the disk full?}"; return 1 ;;
  esac
  [ "${#sum}" = 64 ] || { because "$item: its hash could not be computed: ${words:-no reason was given}"; return 1; }
  # Docker says on stdout that a program cannot be started.
  case $dump_code in 126 | 127) words=$words$(gzip -dc "$data_file" | head -c 300 | tr '\r\n' '  ') ;; esac
  [ "$dump_code" = 0 ] || { because "$item: the dump ended with exit code ${dump_code:-unknown}: ${words:-it printed no reason}"; return 1; }
  if [ "$(field "$item" 5)" != yes ] && is_nothing; then
    # Of a stack that is new, which must not keep its second deploy, or a restore, from going on.
    if [ -n "$lenient" ]; then
      rm -f "$data_file"
      tell 'skipped\t%s\tit is empty\n' "$item"
      return 0
    fi
    because "$item is empty, which is hardly meant; allowEmpty: true keeps such a backup"
    return 1
  fi
  if [ -n "$(about check | awk -F '\t' -v name="$item" '$1 == name')" ]; then
    said=$( (exec 6>&- 7>&- 8>&-; gzip -dc "$data_file" | run_in "$container" check "$item") 2>&1) || {
      because "$item: what was dumped cannot be read: $(printf '%s\n' "$said" | tail -n 1)"
      return 1
    }
  fi
  bytes=$(($(wc -c <"$data_file")))
  seconds=$(($(date +%s) - began))
  printf 'data\t%s\t%s\t%s\t%s\t%s\n' "$item" "$item.gz" "$bytes" "$sum" "$seconds" >>"$backups/.new/manifest" || { because "the backup's manifest could not be written"; return 1; }
  case $volume in ?*) printf 'volume\t%s\t%s\n' "$item" "$volume" >>"$backups/.new/manifest" ;; esac
  tell 'taken\t%s\t%s\t%s\n' "$item" "$bytes" "$seconds"
}
# True for a dump without a byte, and for an archive that holds nothing but its top directory.
is_nothing() {
  [ "$(gzip -dc "$data_file" 2>/dev/null | head -c 1 | wc -c)" -gt 0 ] || return 0
  [ "$(field "$item" 2)" = volume ] || return 1
  # Its beginning alone: without a signal for a closed pipe, tar would read all of it.
  [ "$(gzip -dc "$data_file" 2>/dev/null | head -c 65536 | tar -tf - 2>/dev/null | head -n 2 | wc -l)" -lt 2 ]
}
# take_backup TRIGGER: LENIENT is not empty where an item that is not there yet is left out.
take_backup() {
  here=$(pwd -P)
  # Private whatever the umask.
  (umask 077; mkdir -p "$backups") && chmod 700 "$backups" || { because "$here/$backups could not be made"; return 1; }
  exec 7>>.berth/stopping || { because "$here/.berth cannot be written"; return 1; }
  flock -w 300 7 || { because "an earlier backup or restore here has not ended"; return 1; }
  swap_back || { because "what an earlier restore has replaced could not be put back in $here"; return 1; }
  restarted=$(start_stopped) || { because "$restarted"; return 1; }
  rm -rf "$backups/.new"
  backup_file=$(stack_file compose.yml)
  project=$(stack_ps '{{.Label "com.docker.compose.project"}}' -a | sort -u | head -n 1)
  if [ -z "$project" ] || [ -z "$backup_file" ]; then
    [ -z "$lenient" ] || { tell 'nothing\n'; return 0; }
    because "no stack has containers in $here"
    return 1
  fi
  umask 077
  mkdir "$backups/.new" || { because "$here/$backups cannot be written"; return 1; }
  {
    printf 'at\t%s\ntrigger\t%s\nrun\t%s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "${run:-}"
    printf 'release\t%s\n' "$(head -n 1 .berth/current 2>/dev/null)"
    grep "^image$tab" ".berth/releases/$(head -n 1 .berth/current 2>/dev/null)/note" 2>/dev/null
    about note
  } | cat >"$backups/.new/manifest" || { because "the backup's manifest could not be written: is the disk full?"; rm -rf "$backups/.new"; return 1; }
  failed_at=
  for stops in $(about item | cut -f 4 | sort -u); do
    stop_services "$stops" || { failed_at=yes; break; }
    for name in $(about item | awk -F '\t' -v stops="$stops" '$4 == stops { print $1 }'); do
      volume=
      take_item "$name" || { failed_at=yes; break; }
    done
    # They run again before anything else happens to the copy.
    restarted=$(start_stopped) || { because "$restarted"; failed_at=yes; }
    [ -z "$failed_at" ] || break
  done
  if [ -n "$failed_at" ]; then rm -rf "$backups/.new"; return 1; fi
  if ! grep -q "^data$tab" "$backups/.new/manifest"; then
    rm -rf "$backups/.new"
    tell 'nothing\n'
    return 0
  fi
  number=$({ backup_numbers; cat "$backups/last"; } 2>/dev/null | awk '$1 + 0 > last { last = $1 + 0 } END { print last + 1 }')
  sync "$backups/.new"/* 2>/dev/null
  { printf '%s\n' "$number" | cat >"$backups/last" && mv "$backups/.new" "$backups/$number"; } 2>/dev/null ||
    { because "the backup could not be given its number"; rm -rf "$backups/.new"; return 1; }
  tell 'backup\t%s\n' "$number"
}
