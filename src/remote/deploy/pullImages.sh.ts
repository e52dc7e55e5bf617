// Generated from pullImages.sh by "npm run scripts".
export const script = `docker_quietly() { as_root docker "$@" </dev/null >/dev/null 2>&1; }
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
kept_prefix() { printf 'berth/kept:%s-' "$(pwd -P | sha256sum | cut -c 1-12)"; }
prefix_here() { printf 'berth/release:%s-' "$(pwd -P | sha256sum | cut -c 1-12)"; }
keep_images() {
names_begin=$(kept_prefix)
while read -r kept_id _; do
[ -z "$kept_id" ] || docker_quietly tag "$kept_id" "$names_begin$(printf '%s' "\${kept_id#sha256:}" | cut -c 1-12)"
done
}
incoming_prefix() { printf 'berth/incoming:%s-' "$1"; }
forget_incoming() {
[ -s .berth/loading ] || return 0
docker_quietly rmi $(awk -v prefix="$(incoming_prefix "$(cat .berth/loading)")" 'BEGIN { for (number = 1; number <= 100; number++) print prefix number }' </dev/null)
rm -f .berth/loading
}
docker_images() {
for pause in 0.1 0.3 1; do
if listed_images=$(as_root docker image ls "$@" 2>/dev/null </dev/null); then
[ -z "$listed_images" ] || printf '%s\\n' "$listed_images"
return 0
fi
sleep "$pause" 2>/dev/null || sleep 1
done
as_root docker image ls "$@" </dev/null
}
list_images() { docker_images -a --no-trunc --format '{{.ID}} {{.Repository}}:{{.Tag}}' && echo ok; }
cd "$(path_of "$1")" || exit 1
store=$2
shift 2
before=$(name_ids "$@")
[ "$store" != containerd ] || printf '%s\\n' "$before" | keep_images
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
