# shellcheck shell=sh
# Runs the command of the manifest's `hook` line in a container of the new version, next to the running stack. Stops it
# and undoes everything on a timeout, if the caller requests it (.berth/stop), or if the caller has disconnected, which
# its lock shows. An earlier stop request counts too; one for a later run is kept.
hook=$(about hook)
run_hook() {
  place || return 1
  # Arguments may contain anything but line breaks; the x keeps empty arguments.
  set --
  while IFS= read -r argument; do set -- "$@" "${argument#x}"; done <<ARGUMENTS
$(about argument)
ARGUMENTS
  compose_stack "$compose_file" run --rm -T --no-deps --name "$hook_name" --label "berth.hook=$(pwd -P)" \
    -e "BERTH_RUN=$run" -e BERTH_HOOK=beforeStart "$hook_service" "$@" </dev/null
}
is_stopped() { [ "$(cat .berth/stop 2>/dev/null)" = "$run" ]; }
# True if the activation has ended, or another one has begun.
is_over() {
  [ ! -e .berth/hook ] || [ "$(cut -f 1 .berth/outcome 2>/dev/null)" != "$run" ] ||
    { [ $((left % 5)) = 0 ] && flock -n .berth/activation true; }
}
# Records the reason for stopping the container, and retries until the container is gone, because it may not exist yet.
watch_hook() {
  left=$hook_seconds
  why=
  while left=$((left - 1)) && ! is_over; do
    if [ -z "$why" ]; then
      if [ "$left" -lt 0 ]; then why="it was stopped after $hook_seconds s (hooks.timeout in container.json)"
      elif is_stopped; then why="it was taken back"
      elif [ $((left % 5)) = 0 ] && flock -n .berth/lock true; then why="nobody was waiting for it any more"
      fi
      [ -z "$why" ] || printf '%s\n' "$why" >.berth/hook
    fi
    [ -z "$why" ] || as_root docker rm -fv "$hook_name"
    sleep 1
  done
}
hook_failed() {
  why=$(cat .berth/hook 2>/dev/null)
  [ -z "$why" ] || said=$(printf '%s\n%s' "$said" "$why")
  rm -f .berth/hook
  remove_hooks
  note_brought 2>/dev/null
  if [ -s .berth/running ]; then
    restore_files
    restore_names .berth/names
  else put_back
  fi
  failed beforeStart yes
}
if [ -n "$hook" ]; then
  printf 'step\tbeforeStart\n'
  hook_service=$(printf '%s\n' "$hook" | cut -f 1)
  hook_name=$(printf '%s\n' "$hook" | cut -f 2)
  hook_seconds=$(printf '%s\n' "$hook" | cut -f 3)
  remove_hooks
  said="it was taken back"
  ! is_stopped || hook_failed
  said="so .berth/hook could not be noted"
  : >.berth/hook || hook_failed
  # Uses a subshell to release the lock: descriptors that are closed for a function call remain open in the shell.
  (exec 5>&- 8>&-; watch_hook) >/dev/null 2>&1 </dev/null &
  said=$(report hooked run_hook) || hook_failed
  placed=yes
  # It may have been stopped just as it ended.
  [ ! -s .berth/hook ] || hook_failed
  rm -f .berth/hook
fi
