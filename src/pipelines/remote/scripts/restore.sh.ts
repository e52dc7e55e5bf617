// Generated from restore.sh by "npm run scripts".
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
restore_names() {
  while read -r id name _; do as_root docker tag "$id" "$name" </dev/null >/dev/null 2>&1; done <"$1"
}
restore_containers() {
  while read -r _ _ id name; do
    is=$(as_root docker inspect --type container --format '{{.Name}}' "$id" 2>/dev/null </dev/null) || continue
    [ "$is" != "$name" ] || continue
    as_root docker rm -f "\${name#/}" </dev/null >/dev/null 2>&1
    as_root docker rename "$id" "\${name#/}" </dev/null >/dev/null 2>&1
  done <.berth/running
}
restore_current() { [ ! -f .berth/before ] || mv -f .berth/before .berth/current; }
restore_files() {
  restore_current
  while IFS= read -r name; do
    if [ -e "$previous/$name" ]; then mv -f "$previous/$name" "$name"
    elif [ -e "$previous/$name.absent" ]; then rm -f "$name"
    fi
  done <.berth/files
  [ ! -f .berth/gone ] || while IFS= read -r name; do
    [ ! -f "$previous/$name" ] || mv -f "$previous/$name" "./$name"
  done <.berth/gone
}
kept_prefix() { printf 'berth/kept:%s-' "$(pwd -P | sha256sum | cut -c 1-12)"; }
let_go() {
  [ "$store" = containerd ] || return 0
  held=$(as_root docker image ls --format '{{.Repository}}:{{.Tag}}' </dev/null | grep "^$(kept_prefix)")
  [ -z "$held" ] || as_root docker rmi $held >/dev/null 2>&1 </dev/null
}
any_compose_file() {
  for name in "$@" compose.yml compose.yaml docker-compose.yml docker-compose.yaml; do
    if [ -f "$name" ]; then printf '%s\\n' "$name"; return; fi
  done
}
put_back() {
  if [ -s .berth/running ]; then
    restore_files
    restore_names .berth/names
    restore_names .berth/running
    restore_containers
    again=$(compose -f "$(any_compose_file "$compose_file")" up -d 2>&1 </dev/null)
    return
  fi
  if [ -z "$old" ]; then compose -f "$compose_file" down </dev/null >/dev/null 2>&1
  else compose -f "$compose_file" stop </dev/null >/dev/null 2>&1
  fi
  restore_files
  restore_names .berth/names
  return 0
}
if [ "$#" -gt 0 ]; then cd "$(path_of "$1")" || exit 1
else cd "$(dirname "$0")/.." || exit 1
fi
trap '' HUP
previous=.berth/previous
[ -d "$previous" ] || { echo "$(pwd): no deploy was cut off here, so there is nothing to put back"; exit 0; }
exec 8>>.berth/activation || exit 1
flock -n 8 || { echo "$(pwd): a deploy is starting the stack right now; it puts back what fails by itself" >&2; exit 75; }
find_compose
[ "$compose_kind" != none ] || { echo "neither docker compose nor docker-compose answers; try again with sudo" >&2; exit 1; }
compose_file=$(any_compose_file)
old=$(cat .berth/old)
if [ -s .berth/running ] || [ -n "$(ls -A "$previous")" ]; then put_back
else
  restore_current
  restore_names .berth/names
fi || { printf '%s\\n' "$again" >&2; echo "$(pwd): the files are back, but the stack did not start" >&2; exit 1; }
rm -rf .berth/staged "$previous"
store=containerd
let_go
echo "$(pwd): the previous version is back"
`
