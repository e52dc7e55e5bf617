// Generated from stackLogs.sh by "npm run scripts".
export const script = `known_compose() { return 1; }
find_compose() {
  compose_kind=none
  if compose_version=$(as_root docker compose version --short 2>/dev/null </dev/null) && [ -n "$compose_version" ]; then
    compose_kind=v2
  elif known_compose; then
    compose_kind=v1
  elif compose_version=$(as_root docker-compose version --short 2>/dev/null </dev/null) && [ -n "$compose_version" ]; then
    case $compose_version in
      1.*) compose_kind=v1 ;;
      *) compose_kind=standalone ;;
    esac
  else
    compose_version=
  fi
}
compose() {
  case $compose_kind in
    v2) as_root docker compose "$@" ;;
    v1 | standalone) as_root docker-compose "$@" ;;
    *) echo "neither docker compose nor docker-compose is installed" >&2; return 127 ;;
  esac
}
time_of() {
  case $1 in
    -*) ago=$(($(date +%s) - \${1#-})) && date -u -d "@$ago" +%Y-%m-%dT%H:%M:%SZ ;;
    *) printf '%s\\n' "$1" ;;
  esac
}
path=$(path_of "$1")
if ! cd "$path" 2>/dev/null; then
  why=$(LC_ALL=C ls -d "$path/." 2>&1)
  printf '%s\\n' "$why" >&2
  case $why in *"No such file"* | *"Not a directory"*) exit 66 ;; esac
  exit 1
fi
find_compose
since=$(time_of "$4")
stamps='s/^\\([^|]*|\\) [0-9-]*T[0-9:.]*Z/\\1/'
[ "$5" != yes ] || stamps=
exec 4>&1
code=$({
  { compose logs --no-color --timestamps --tail "$2" \${6:+"$6"} </dev/null 4>&-; echo "$?" >&3; } |
    LC_ALL=C sed -n '/^[^|]*| [0-9]\\{4\\}-[0-9-]*T[0-9:.]*Z/p' |
    LC_ALL=C awk -F '|' -v since="$since" 'since == "" || substr($2, 2, length(since) - 1) >= substr(since, 1, length(since) - 1)' |
    LC_ALL=C sort -s -t '|' -k 2.1,2.32 |
    tail -n "$2" |
    LC_ALL=C sed "$stamps" |
    tail -c "$3" >&4
} 3>&1)
exit "$code"
`
