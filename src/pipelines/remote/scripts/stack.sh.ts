// Generated from stack.sh by "npm run scripts".
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
inspect() {
  [ "$#" -gt 0 ] || return 0
  printf 'now\\t%s\\n' "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)"
  as_root docker inspect --type container --format "$(printf 'container\\t')"'{{.Id}}|{{.Name}}|{{index .Config.Labels "com.docker.compose.service"}}|{{.HostConfig.RestartPolicy.Name}}|{{json .State}}' "$@" 2>/dev/null </dev/null
}
action=$1
volumes=$3
cd "$(path_of "$2")" 2>/dev/null || { echo absent; exit 0; }
here=$(pwd -P)
tab=$(printf '\\t')
ids() {
  as_root docker ps -a --no-trunc --filter "label=com.docker.compose.project.working_dir=$here" \\
    --format '{{.ID}} {{.Label "com.docker.compose.oneoff"}}' </dev/null | awk '$2 != "True" { print $1 }'
}
as_root docker version --format '{{.Server.Version}}' </dev/null >/dev/null || exit 1
containers=$(ids) || exit 1
file=
for name in compose.yml compose.yaml docker-compose.yml docker-compose.yaml; do
  if [ -f "$name" ]; then file=$name; break; fi
done
berths=
[ ! -f .berth/deployed ] && [ ! -d .berth/releases ] || berths=yes
case $action:$containers:$file:$berths in
  *::*:yes | start::?*: | look::?*:) ;;
  *::*:) echo absent; exit 0 ;;
esac
show() {
  inspect $(ids)
}
if [ "$action" = look ]; then
  [ -n "$containers" ] || echo empty
  show
  exit 0
fi
find_compose
trap '' HUP PIPE TERM
if [ -d .berth ]; then
  exec 8>>.berth/activation || exit 1
  flock -w 300 8 || { echo "a deploy to this directory has not ended" >&2; exit 1; }
fi
by_compose() { compose -f "$file" "$@" </dev/null >&2; }
by_docker() { [ -z "$containers" ] || as_root docker "$@" $containers </dev/null >&2; }
case $action:$file in
  stop:?* | restart:?*) set -- by_compose "$action" ;;
  start:?*) set -- by_compose up -d --no-build --no-recreate ;;
  *) set -- by_docker "$action" ;;
esac
if [ "$action" != remove ]; then
  case $action:$file in
    start:?*) ;;
    *) [ -n "$containers" ] || { echo empty; exit 0; } ;;
  esac
  "$@" || { show; exit 1; }
  show
  exit 0
fi
if [ -n "$file" ]; then
  if [ "$volumes" = yes ]; then by_compose down -v; else by_compose down; fi || { show; exit 1; }
fi
containers=$(ids) || exit 1
by_docker rm -f || { show; exit 1; }
containers=$(ids) || exit 1
[ -z "$containers" ] || { echo "not all containers could be removed" >&2; show; exit 1; }
notes() { cat .berth/releases/[0-9]*/note 2>/dev/null; }
brought_files() {
  notes | sed -n -e "s/^compose$tab//p" -e "s/^env$tab//p" -e "s/^file$tab//p" -e "s/^large$tab//p"
  [ -z "$berths" ] || { printf '%s\\n' "$file"; cat .berth/deployed .berth/archive 2>/dev/null; }
}
brought_files | LC_ALL=C sort -u | while IFS= read -r name; do
  case $name in "" | /* | data | data/* | .. | ../* | */../* | */.. | .berth | .berth/*) continue ;; esac
  [ -f "./$name" ] || [ -L "./$name" ] || continue
  if rm -f "./$name"; then printf 'removed\\t%s\\n' "$name"; else printf 'left\\t%s\\n' "$name"; fi
  case $name in */*) rmdir -p "./\${name%/*}" 2>/dev/null ;; esac
done
notes | awk -F '\\t' '$1 == "image" && $4 == "brought" && !seen[$2 " " $3]++ { print $2, $3 }' >.berth/leaving 2>/dev/null
prefix=berth/release:$(printf '%s\\n' "$here" | sha256sum | cut -c 1-12)-
held=$(as_root docker image ls --format '{{.Repository}}:{{.Tag}}' </dev/null | grep -F "$prefix")
[ -z "$held" ] || as_root docker rmi $held </dev/null >/dev/null 2>&1
[ ! -s .berth/leaving ] || while read -r id name; do
  case $name in "$id") names= ;; *) names="$name " ;; esac
  [ "$(as_root docker image inspect --format '{{.Id}} {{range .RepoTags}}{{.}} {{end}}' "$id" 2>/dev/null </dev/null)" = "$id $names" ] || continue
  as_root docker rmi "\${name:-$id}" </dev/null >/dev/null 2>&1 && printf 'image\\t%s\\n' "$name"
done <.berth/leaving
rm -rf .berth
cd / && rmdir "$here" 2>/dev/null
exit 0
`
