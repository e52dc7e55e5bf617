# shellcheck shell=sh
# Starts a bridge for each `bridge` line of the manifest: a container of the new version on its own port, which takes
# the requests while its service is recreated. Then waits until the caller has redirected the requests (.berth/go).
# Undoes everything if the caller requests it (.berth/stop) or has disconnected, which its lock shows.
# Lists the local listening ports in hexadecimal.
listening() { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '$4 == "0A" { sub(/.*:/, "", $2); print $2 }'; }
# run_bridge SERVICE NAME ADDRESS TARGET PORT FIRST LAST
run_bridge() {
  taken=" $(listening | tr '\n' ' ') "
  candidate=$6
  attempts=20
  while [ "$candidate" -le "$7" ] && [ "$attempts" -gt 0 ]; do
    bridge_port=$candidate
    candidate=$((candidate + 1))
    case $taken in *" $(printf '%04X' "$bridge_port") "*) continue ;; esac
    attempts=$((attempts - 1))
    printf 'bridge\t%s\t%s\t%s\t%s\n' "$1" "$2" "$5" "$bridge_port" >>.berth/bridge || return 1
    said=$(compose_stack "$compose_file" run -d -T --no-deps --name "$2" --label "berth.bridge=$run" -p "${3:+$3:}$bridge_port:$4" "$1" 2>&1 </dev/null) && return 0
    docker_quietly rm -fv "$2"
    case $said in *"already allocated"* | *"address already in use"*) ;; *) printf '%s\n' "$said"; return 1 ;; esac
  done
  echo "no port from $6 to $7 is free for a second container of $1 (deploy.bridgePorts)"
  return 1
}
# The fields are separated by tabs, and the address may be empty: a read that splits at tabs would skip it.
run_bridges() {
  [ -n "$placed" ] || place || return 1
  about bridge | while IFS= read -r line; do
    # shellcheck disable=SC2046 # Names and ports without spaces; an empty address is written as a dash.
    set -- $(printf '%s\n' "$line" | tr '\t' ' ')
    address=$3
    [ "$address" != - ] || address=
    run_bridge "$1" "$2" "$address" "$4" "$5" "$6" "$7" || exit 1
  done
}
bridge_names() { awk -F '\t' '$1 == "bridge" && !seen[$3]++ { print $3 }' .berth/bridge 2>/dev/null; }
# After the caller has recorded that it will edit the proxy file, the bridges stay until it has redirected the requests
# back.
take_back() {
  if ! grep -q "^proxy$tab" .berth/bridge 2>/dev/null; then
    # shellcheck disable=SC2046 # A list of names.
    docker_quietly rm -fv $(bridge_names)
    rm -f .berth/bridge .berth/leadBack.sh
  fi
  rm -f .berth/waiting .berth/go .berth/stop
  note_brought 2>/dev/null
  restore_files
  restore_names .berth/names
  failed bridge yes
}
if [ -n "$(about bridge)" ]; then
  printf 'step\tbridge\n'
  rm -f .berth/waiting .berth/go
  said="so .berth/bridge could not be noted"
  printf 'run\t%s\n' "$run" | note bridge 2>/dev/null && said=$(report bridged run_bridges) || take_back
  placed=yes
  # shellcheck disable=SC2046 # A list of names.
  inspect $(bridge_names)
  grep "^bridge$tab" .berth/bridge
  pause switch || take_back
fi
