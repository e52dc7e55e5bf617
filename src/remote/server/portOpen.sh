#!/bin/sh
# portOpen.sh HOST PORT: whether a port takes a connection, with whatever program the server has. Exits with 0 when it
# does, with 1 when it does not, and with 2 when no program is there that could tell.
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
  # The time that connecting took is 0 where it did not come about; how it ends says less, since nobody hangs up.
  took=$(curl -s -o /dev/null -w '%{time_connect}' --connect-timeout 5 --max-time 6 "telnet://$host:$2" </dev/null)
  case $took in *[1-9]*) exit 0 ;; *) exit 1 ;; esac
fi
exit 2
