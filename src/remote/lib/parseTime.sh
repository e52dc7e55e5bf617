# shellcheck shell=sh
# parse_time TIME: a time in UTC; - and a number of seconds are that long ago. Empty stays empty.
parse_time() {
  case $1 in
    -*) ago=$(($(date +%s) - ${1#-})) && date -u -d "@$ago" +%Y-%m-%dT%H:%M:%SZ ;;
    *) printf '%s\n' "$1" ;;
  esac
}
