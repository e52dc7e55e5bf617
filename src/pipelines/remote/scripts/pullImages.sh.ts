// Generated from pullImages.sh by "npm run scripts".
export const script = `name_ids() {
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
list_images() { as_root docker image ls -a --no-trunc --format '{{.ID}} {{.Repository}}:{{.Tag}}' </dev/null && echo ok; }
cd "$(path_of "$1")" || exit 1
store=$2
shift 2
before=$(name_ids "$@")
prefix=berth/kept:$(pwd -P | sha256sum | cut -c 1-12)-
[ "$store" != containerd ] || printf '%s\\n' "$before" | while read -r id name; do
  [ -z "$name" ] || as_root docker tag "$id" "$prefix$(printf '%s' "\${id#sha256:}" | cut -c 1-12)" </dev/null >/dev/null 2>&1
done
for name do
  printf 'pull\\t%s\\n' "$name"
  as_root docker pull "$name" </dev/null && continue
  printf '%s\\n' "$before" | while read -r id other; do
    [ -z "$other" ] || as_root docker tag "$id" "$other" </dev/null >/dev/null 2>&1
  done
  printf 'refused\\t%s\\n' "$name"
  exit 1
done
`
