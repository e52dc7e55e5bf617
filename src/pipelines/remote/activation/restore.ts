/** Functions that put back what ran before. */
export const restoreScript = `
restore_names() {
  while read -r id name rest; do as_root docker tag "$id" "$name" </dev/null >/dev/null 2>&1; done <"$1"
}
# The archive's names that meant nothing before the load mean nothing after it has failed.
forget_names() {
  for name in $subjects; do
    cut -d ' ' -f 2 .berth/names | grep -qxF "$name" || as_root docker rmi "$name" </dev/null >/dev/null 2>&1
  done
}
# docker-compose 1.x renames a container before it makes the next one, and leaves it so when that fails.
restore_containers() {
  while read -r image tag id name; do
    is=$(as_root docker inspect --type container --format '{{.Name}}' "$id" 2>/dev/null </dev/null) || continue
    [ "$is" != "$name" ] || continue
    as_root docker rm -f "\${name#/}" </dev/null >/dev/null 2>&1
    as_root docker rename "$id" "\${name#/}" </dev/null >/dev/null 2>&1
  done <.berth/running
}
restore_files() {
  while IFS= read -r name; do
    if [ -e "$previous/$name" ]; then mv -f "$previous/$name" "$name"
    elif [ -e "$previous/$name.absent" ]; then rm -f "$name"
    fi
  done <.berth/files
}
# An image that is still used keeps the name, until the end of the next activation.
let_go() {
  [ "$store" = containerd ] || return 0
  held=$(as_root docker image ls --format '{{.Repository}}:{{.Tag}}' </dev/null | grep "^berth/kept:$keeping-")
  [ -z "$held" ] || as_root docker rmi $held >/dev/null 2>&1 </dev/null
}
# failed STEP RESTORED: the words of the server follow. They are in no file, for which there may be no room.
failed() {
  printf 'failed\\t%s\\t%s\\n' "$1" "$2"
  printf '%s\\n' "$said" | tail -c 6000
  rm -rf "$staged" "$previous"
  let_go
  exit 1
}
`
