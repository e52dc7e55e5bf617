// Generated from portOpen.sh by "npm run scripts".
export const script = `if command -v nc >/dev/null 2>&1 && nc -h 2>&1 | grep -q -e '-z'; then
nc -z -w 5 "$1" "$2" </dev/null && exit 0
exit 1
fi
if command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null </dev/null && exit 0
exit 1
fi
if command -v curl >/dev/null 2>&1; then
case $1 in *:*) host="[$1]" ;; *) host=$1 ;; esac
took=$(curl -s -o /dev/null -w '%{time_connect}' --connect-timeout 5 --max-time 6 "telnet://$host:$2" </dev/null)
case $took in *[1-9]*) exit 0 ;; *) exit 1 ;; esac
fi
exit 2
`
