# shellcheck shell=sh
# Last part of restore.sh, stored as .berth/leadBack.sh while requests may go to a bridge. Redirects the requests back
# from the bridges recorded in .berth/bridge, and removes these. Edits the proxy file only if the note says that it is
# on this server (`here`), and only URLs of a bridge, which Berth has written.
# Not included in restore.sh, which every activation carries, because some SSH servers limit commands to 32 KiB.
tab=$(printf '\t')
steps=$(cat "$(dirname "$0")/../proxy/subprocesses/proxySteps.sh")
noted() { sed -n "s/^$1$tab//p" .berth/bridge 2>/dev/null; }
# Name, service port and bridge port of each bridge; the last of several attempts for one counts.
noted_bridges() { noted bridge | awk -F '\t' '{ last[$2] = $2 "\t" $3 "\t" $4 } END { for (name in last) print last[name] }'; }
# ports_back HOSTS FROM TO: copies a proxy file, redirecting servers at one port to another, or removing them if the
# list already has that. Keeps a missing final line break.
ports_back() {
  { cat; echo x; } | LC_ALL=C awk -v list="$1" -v from="$2" -v to="$3" '
    function ending(text, at) { return at + length(text) }
    function back(text, i, at, mark, rest, done, is_tls) {
      for (i = 1; i <= hosts; i++) {
        mark = "://" host[i] ":" from
        rest = text
        done = ""
        while ((at = index(tolower(rest), mark)) > 0) {
          if (substr(rest, ending(mark, at), 1) ~ /[0-9]/) done = done substr(rest, 1, ending(mark, at) - 1)
          else {
            is_tls = tolower(substr(rest, 1, at - 1)) ~ /https$/
            done = done substr(rest, 1, at + 2 + length(host[i])) (to == (is_tls ? 443 : 80) ? "" : ":" to)
          }
          rest = substr(rest, ending(mark, at))
        }
        text = done rest
      }
      return text
    }
    # Removes an item in braces if the list has it with the other port right before or after it.
    function shortened(text, at, open, item, other, rest) {
      for (at = 1; (open = index(substr(text, at), "{")) > 0; at = open + 1) {
        open += at - 1
        item = substr(text, open, index(substr(text, open), "}"))
        other = back(item)
        if (item == "" || other == item) continue
        rest = substr(text, open + length(item))
        if (substr(rest, 1, length(other) + 2) == ", " other) text = substr(text, 1, open - 1) substr(rest, 3)
        else if (substr(text, open - length(other) - 2, length(other) + 2) == other ", ") text = substr(text, 1, open - 3) rest
      }
      return text
    }
    # The last line has no line break.
    function content(text) { sub(/\r$/, "", text); return text }
    function repeats(first, count, by, i) {
      for (i = first; i < first + count; i++) if (i < 1 || !((i + by) in line) || content(moved[i]) != content(line[i + by])) return 0
      return 1
    }
    # Removes the lines of an item if the list has it with the other port right before or after it.
    function leave_out(at, count, first, i) {
      for (count = 1; count <= 12; count++) for (first = at - count + 1; first <= at; first++)
        if (repeats(first, count, count) || repeats(first, count, -count)) {
          for (i = first; i < first + count; i++) gone[i] = 1
          return
        }
    }
    { line[NR] = $0 }
    END {
      hosts = split(list, host, ",")
      sub(/x$/, "", line[NR])
      for (i = 1; i <= NR; i++) {
        line[i] = shortened(line[i])
        moved[i] = back(line[i])
      }
      for (i = 1; i <= NR; i++) if (moved[i] != line[i] && !gone[i]) leave_out(i)
      for (last = NR; gone[last]; last--) moved[last - 1] = content(moved[last - 1])
      for (i = 1; i <= last; i++) if (!gone[i]) { printf "%s%s", separator, moved[i]; separator = "\n" }
    }'
}
# Edits one proxy file under the lock of all its editors, with the same checks as every edit. On failure, `again` has
# the reason.
edit_back() {
  for _ in 1 2 3; do
    as_root cat "$1" >.berth/proxy-before && cp .berth/proxy-before .berth/proxy-after || { again="$1 cannot be read"; return 1; }
    noted_bridges >.berth/proxy-bridges
    while IFS="$tab" read -r _ port bridge_port; do
      ports_back "$2" "$bridge_port" "$port" <.berth/proxy-after >.berth/proxy-next && mv .berth/proxy-next .berth/proxy-after || return 1
    done <.berth/proxy-bridges
    if cmp -s .berth/proxy-before .berth/proxy-after; then return 0; fi
    again=$( (
      take_lock -x 30 2>/dev/null || { echo "somebody else has been editing it for 30 s"; exit 75; }
      as_root sh -c "$steps" sh "" "$1" "$(pwd)/.berth/proxy-before" "$(pwd)/.berth/proxy-after"
    ) 2>&1)
    code=$?
    [ "$code" != 73 ] || continue
    [ "$code" = 0 ] && return 0
    again="$1 cannot be written: $again"
    return 1
  done
  again="somebody else keeps changing $1"
  return 1
}
is_served() { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v port="$(printf ':%04X' "$1")" '$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 } END { exit !found }'; }
all_served() {
  noted_bridges | while IFS="$tab" read -r _ port _; do is_served "$port" || exit 1; done
}
tell_of_bridges() {
  proxy=$(noted proxy | awk -F '\t' '{ place = $3 " on " $1 } END { print place }')
  noted_bridges | while IFS="$tab" read -r name port bridge_port; do
    echo "$(pwd): $proxy may lead to port $bridge_port, the container $name, in place of port $port: deploy again, or edit that file and then run docker rm -f $name; rm .berth/bridge"
  done
}
# A proxy file on another server can only be edited by Berth or an operator, so the bridges stay.
restore_routes() {
  [ -f .berth/bridge ] || return 0
  settle=$(noted here | tail -n 1)
  if [ -n "$(noted proxy)" ]; then
    [ -n "$settle" ] || { tell_of_bridges; return 0; }
    all_served || compose_stack "$(stack_file compose.yml)" up -d >/dev/null 2>&1 </dev/null
    all_served || { tell_of_bridges; echo "$(pwd): nothing listens on the port of the stack, so the requests were not led back" >&2; return 1; }
    umask 077
    edit_back "$(noted proxy | tail -n 1 | cut -f 3-)" "$(noted proxy | tail -n 1 | cut -f 2)"
    edited=$?
    rm -f .berth/proxy-before .berth/proxy-after .berth/proxy-next .berth/proxy-bridges
    [ "$edited" = 0 ] || { tell_of_bridges; printf '%s\n' "$again" >&2; return 1; }
    # The proxy takes a while to reload its file.
    sleep "$settle"
  fi
  for name in $(noted_bridges | cut -f 1); do
    as_root docker inspect --type container "$name" >/dev/null 2>&1 </dev/null || continue
    as_root docker stop "$name" >/dev/null 2>&1 </dev/null
    as_root docker rm -fv "$name" >/dev/null </dev/null || return 1
  done
  rm -f .berth/bridge .berth/leadBack.sh
  echo "$(pwd): no requests go to a bridge any more"
}
restore_routes
