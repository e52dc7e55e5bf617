#!/bin/sh
# ports.sh: lists used ports. Prints a `socket` line for each address that a program listens on, and a `container` line
# for each running container with the ports that Docker publishes for it. Anything that cannot be read is an `unread`
# line.
# Linux lists its sockets in a file; elsewhere netstat is used.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
if [ -r /proc/net/tcp ]; then
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '$4 == "0A" { print "socket|" $2 }'
elif command -v netstat >/dev/null 2>&1; then
  netstat -an 2>/dev/null | awk '/^tcp/ && /LISTEN/ { print "socket|" $4 }'
else
  echo 'unread|sockets|there is neither /proc/net/tcp nor netstat'
fi
if said=$(as_root docker ps --format 'container|{{.Names}}|{{.Ports}}' 2>&1 </dev/null); then
  printf '%s\n' "$said"
else
  printf 'unread|containers|%s\n' "$(printf '%s' "$said" | tail -n 1)"
fi
