#!/bin/sh
# disk.sh: prints what takes space on a server, and to whom it belongs. Stdin has one remote path of a known stack per
# line. Prints:
# `disk` and `inodes` lines as overview.sh does;
# an `image` line for each image: id, size, the times of its creation and of its last name, parent, names, digests;
# a `container` line for each container: id, name, image, directory of its stack as JSON, log driver, max-size,
# max-file, number of its volumes, and their names;
# a `volume` line for each volume: name, last change in seconds since 1970 or empty;
# a `log` line with the size and the id of each container whose log can be read;
# for each directory with releases: `directory` with its number, the prefix of the names of its images and its path,
# `release` lines with the number of the directory, the number of the release and whether it is the current one,
# `needs` lines with the number of the directory, the release, an image id, its name and whether Berth brought it,
# `leaves` lines with an image id and the names that Berth gave it, for an image that a dropped release has left, and
# `kept` with the KiB of its releases and of its backups;
# last, Docker's own measurements: `unique` of images, `size` of volumes, and `cache` of the build cache: id, size,
# whether it is in use, last use and parents.
# Exits with 3 if Docker cannot be used.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/usage.sh"
. "$(dirname "$0")/../lib/images.sh"
. "$(dirname "$0")/../lib/stackDirectories.sh"
tab=$(printf '\t')
stacks=$HOME/containers
[ -d "$stacks" ] || stacks=$HOME
disk_of containers "$stacks"
# Runs first and alone, so that a wrong password is a single attempt.
root=$(as_root docker info --format '{{.DockerRootDir}}' </dev/null) || exit 3
[ ! -d "$root" ] || disk_of docker "$root"
# in_parts COMMAND…: runs a command with the words of stdin, at most 200 at once. A word that is gone does not hide the
# others.
in_parts() {
  awk 'NF { printf "%s%s", $1, ++count % 200 ? " " : "\n" } END { if (count % 200) print "" }' | while IFS= read -r part; do
    # shellcheck disable=SC2086 # A list of ids, or of names without spaces.
    "$@" $part 2>/dev/null </dev/null
  done
}
images=$(docker_images -q --no-trunc) || exit 3
printf '%s\n' "$images" | sort -u | in_parts as_root docker image inspect --format \
  "image$tab{{.Id}}$tab{{.Size}}$tab{{.Created}}$tab{{.Metadata.LastTagTime}}$tab{{.Parent}}$tab"'{{range .RepoTags}}{{.}} {{end}}'"$tab"'{{range .RepoDigests}}{{.}} {{end}}'
containers=$(as_root docker ps -aq --no-trunc </dev/null) || exit 3
printf '%s\n' "$containers" | in_parts as_root docker inspect --type container --format \
  "container$tab{{.Id}}$tab{{.Name}}$tab{{.Image}}$tab"'{{json (index .Config.Labels "com.docker.compose.project.working_dir")}}'"$tab{{.HostConfig.LogConfig.Type}}$tab"'{{index .HostConfig.LogConfig.Config "max-size"}}'"$tab"'{{index .HostConfig.LogConfig.Config "max-file"}}'"$tab"'{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}} {{end}}{{end}}'
volumes=$(as_root docker volume ls -q </dev/null) || exit 3
changed_at() {
  while IFS="$tab" read -r name mount; do
    printf 'volume\t%s\t%s\n' "$name" "$(as_root stat -c %Y "$mount" 2>/dev/null </dev/null)"
  done
}
printf '%s\n' "$volumes" | in_parts as_root docker volume inspect --format "{{.Name}}$tab{{.Mountpoint}}" | changed_at
# One call for all logs: their directories belong to root.
# shellcheck disable=SC2016 # The other shell expands it.
printf '%s\n' "$containers" | in_parts as_root docker inspect --type container --format '{{.LogPath}}' | grep '^/' |
  in_parts as_root sh -c 'for log do
    total=0
    for file in "$log" "$log".*; do
      if [ -f "$file" ]; then size=$(stat -c %s "$file") && total=$((total + size)); fi
    done
    id=${log%/*}
    [ ! -f "$log" ] || printf "log\t%s\t%s\n" "$total" "${id##*/}"
  done' sh
number=0
berth_directories | while IFS= read -r directory; do
  number=$((number + 1))
  cd "$directory" 2>/dev/null || continue
  hash=$(prefix_here)
  hash=${hash#berth/release:}
  printf 'directory\t%s\t%s\t%s\n' "$number" "${hash%-}" "$directory"
  current=
  [ ! -f .berth/current ] || IFS= read -r current <.berth/current
  for note in .berth/releases/[0-9]*/note; do
    [ -f "$note" ] || continue
    release=${note%/note}
    release=${release##*/}
    marker=
    [ "$release" != "$current" ] || marker=current
    printf 'release\t%s\t%s\t%s\n' "$number" "$release" "$marker"
    awk -F '\t' -v number="$number" -v release="$release" '
      $1 == "image" { printf "needs\t%s\t%s\t%s\t%s\t%s\n", number, release, $2, $3, $4 }' "$note"
  done
  [ ! -f .berth/leaving ] || awk '/^sha256:/ { id = $1; sub(/^[^ ]* ?/, ""); printf "leaves\t%s\t%s\n", id, $0 }' .berth/leaving
  kib() { du -sk "$1" 2>/dev/null | cut -f 1; }
  printf 'kept\t%s\t%s\t%s\n' "$number" "$(kib .berth/releases)" "$(kib .berth/backups)"
done
set -- as_root
! command -v timeout >/dev/null || set -- as_root timeout 60
"$@" docker system df -v --format '{{range .Images}}unique'"$tab{{.ID}}$tab{{.UniqueSize}}"'
{{end}}{{range .Volumes}}size'"$tab{{.Name}}$tab{{.Size}}"'
{{end}}{{range .BuildCache}}cache'"$tab{{.ID}}$tab{{.Size}}$tab{{.InUse}}$tab{{.LastUsedAt}}$tab{{.Parent}}"'
{{end}}' 2>/dev/null </dev/null
exit 0
