// Generated from containerLogs.sh by "npm run scripts".
export const script = `time_of() {
  case $1 in
    -*) ago=$(($(date +%s) - \${1#-})) && date -u -d "@$ago" +%Y-%m-%dT%H:%M:%SZ ;;
    *) printf '%s\\n' "$1" ;;
  esac
}
containerLogs='name=$1
timestamps=$4
set -- --tail "$2" \${3:+--since "$3"}
[ "$timestamps" != yes ] || set -- "$@" --timestamps
docker logs "$@" "$name" 2>&1'
as_root sh -c "$containerLogs" sh "$1" "$2" "$(time_of "$3")" "$4" </dev/null
`
