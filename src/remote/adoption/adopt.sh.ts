// Generated from adopt.sh by "npm run scripts".
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
numbers() {
for note in .berth/releases/[0-9]*/note; do
release=\${note%/note}
[ ! -f "$note" ] || printf '%s\\n' "\${release##*/}"
done | sort -rn
}
keep_files() { tr '\\n' '\\0' | xargs -0 -r sh -c 'cp "$0" --parents -- "$@" .berth/releases/.new/files' "$1"; }
copied() { for kind in compose env file; do about "$kind"; done; }
write_release() {
new=.berth/releases/.new
rm -rf "$new"
mkdir -p "$new/files" || return 1
{
printf 'at\\t%s\\nrun\\t%s\\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$run"
printf '%s\\n' "$2" | grep "^image$tab"
printf '%s\\n' "$manifest"
} | cat >"$new/note" || return 1
if ! { copied | keep_files -p && about large | keep_files -pl; } 2>/dev/null; then
rm -rf "$new/files"
mkdir "$new/files" || return 1
{ copied; about large; } | sed 's,^,./,' | tar -cf - -T - | tar -xpf - -C "$new/files" || return 1
fi
[ "$(find "$new/files" -type f | wc -l)" -eq "$({ copied; about large; } | sort -u | wc -l)" ] ||
{ echo "not all of its files could be copied" >&2; return 1; }
printf '%s\\n' "$1" | cat >.berth/releases/last && printf '%s\\n' "$1" | cat >.berth/current.new || return 1
mv "$new" ".berth/releases/$1" && mv -f .berth/current.new .berth/current
}
next_number() { { numbers; cat .berth/releases/last; } 2>/dev/null | awk '$1 + 0 > last { last = $1 + 0 } END { print last + 1 }'; }
umask 077
cd "$(path_of "$1")" && mkdir -p .berth || exit 1
run=$2
owned=$3
shift 3
tab=$(printf '\\t')
IFS= read -r manifest_size || :
case $manifest_size in "" | 0 | *[!0-9]*) echo "no manifest came" >&2; exit 1 ;; esac
manifest=$(dd "bs=$manifest_size" "count=1" "iflag=fullblock" 2>/dev/null; echo x)
manifest=\${manifest%x}
[ "$(printf '%s' "$manifest" | wc -c)" -eq "$manifest_size" ] || { echo "the connection broke before anything was changed" >&2; exit 1; }
about() { printf '%s\\n' "$manifest" | sed -n "s/^$1$tab//p"; }
exec 8>>.berth/activation || exit 1
flock -w 300 8 || { echo "an earlier deploy to this directory has not ended" >&2; exit 1; }
if IFS= read -r current 2>/dev/null <.berth/current && [ -f ".berth/releases/$current/note" ]; then
printf 'release\\t%s\\n' "$current"
exit 0
fi
given=
give_back() {
trap '' HUP INT TERM PIPE
berth_ignores=yes
printf '%s' "$given" | while IFS=$tab read -r owner name; do as_root chown -h "$owner" "./$name" </dev/null; done
given=
}
trap '[ $? -eq 0 ] || give_back' EXIT
trap 'give_back; exit 1' HUP INT TERM PIPE
while [ "$owned" -gt 0 ]; do
[ "$(as_root readlink -f "./$1" </dev/null)" = "$(pwd -P)/$1" ] && owner=$(as_root stat -c %u "./$1" </dev/null) || exit 1
given="$given$owner$tab$1
"
as_root chown -h "$(id -u)" "./$1" </dev/null || exit 1
shift
owned=$((owned - 1))
done
as_root docker inspect --type container --format '{{.Image}} {{.Config.Image}}' "$@" </dev/null >.berth/names.new || exit 1
release_prefix=$(prefix_here)
cut -d ' ' -f 1 .berth/names.new | sort -u | while read -r id; do
as_root docker tag "$id" "$release_prefix$(printf '%s' "\${id#sha256:}" | cut -c 1-12)" </dev/null >/dev/null 2>&1 || exit 1
done || { echo "an image that runs has been removed" >&2; exit 1; }
described=$(awk -v "tab=$tab" 'NF == 2 && !seen[$0]++ { print "image" tab $1 tab $2 tab "kept" }' .berth/names.new)
rm -f .berth/names.new
number=$(next_number)
printf '%s\\n' "$manifest" | grep -e "^compose$tab" -e "^profile$tab" -e "^project$tab" -e "^variables$tab" >.berth/stack &&
about env >.berth/deployed || exit 1
if ! said=$(write_release "$number" "$described" 2>&1); then
rm -rf .berth/releases/.new .berth/stack .berth/deployed
printf '%s\\n' "$said" | tail -n 3 >&2
exit 1
fi
printf 'release\\t%s\\n' "$number"
`
