#!/bin/sh
# portOpen.sh HOST PORT: checks whether a port accepts a connection, with any suitable program on the server. Exits
# with 0 if it does, with 1 if it does not, and with 2 if the server has no such program.
if command -v nc >/dev/null 2>&1 && nc -h 2>&1 | grep -q -e '-z'; then
  nc -z -w 5 "$1" "$2" </dev/null && exit 0
  exit 1
fi
if command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
  # shellcheck disable=SC2016 # bash's own parameters
  timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null </dev/null && exit 0
  exit 1
fi
if command -v curl >/dev/null 2>&1; then
  case $1 in *:*) host="[$1]" ;; *) host=$1 ;; esac
  # The connect time is 0 if the connection failed. curl's exit code is less reliable, because neither side closes the
  # connection.
  took=$(curl -s -o /dev/null -w '%{time_connect}' --connect-timeout 5 --max-time 6 "telnet://$host:$2" </dev/null)
  case $took in *[1-9]*) exit 0 ;; *) exit 1 ;; esac
fi
exit 2
