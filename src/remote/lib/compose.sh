# shellcheck shell=sh
# find_compose sets compose_version, and compose_kind to v2 (docker compose), standalone (docker-compose 2.x), v1
# (docker-compose 1.x) or none. compose … runs the one found. A script may redefine known_compose to answer for 1.x,
# which takes a while to print its version.
known_compose() { return 1; }
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
