/**
 * Shell functions that scripts share. `find_compose` sets `compose_kind` to v2 (`docker compose`), standalone
 * (`docker-compose` 2.x), v1 (`docker-compose` 1.x) or none; `compose …` runs whichever there is. Where a script
 * defines `known_compose`, that may answer for 1.x, which takes its time to tell its version.
 */
export const composeFunctions = `
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
`

/** The shell function `name_ids name…`: a line of id and name for each image name that means something. */
export const imageFunctions = `
name_ids() {
  [ "$#" -gt 0 ] || return 0
  if ids=$(as_root docker image inspect --format '{{.Id}}' "$@" 2>/dev/null </dev/null); then
    for id in $ids; do printf '%s %s\\n' "$id" "$1"; shift; done
    return 0
  fi
  [ "$#" -gt 1 ] || return 0
  for name do
    id=$(as_root docker image inspect --format '{{.Id}}' "$name" 2>/dev/null </dev/null) && printf '%s %s\\n' "$id" "$name"
  done
  return 0
}
`

/** Whether Docker takes this for an image name; anything else must not come near its command line. */
export const isImageName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/.test(name) && name.length <= 512
