# shellcheck shell=sh
# buildImage.sh CHUNKS NAME: the part of buildImage.sh that may need root, so that it can also end what it starts.
chunks=$1
name=$2
exec 3<&0 </dev/null
hear() {
  if command -v timeout >/dev/null 2>&1; then timeout 180 "$@" <&3; else "$@" <&3; fi
}
set --
while IFS= read -r line <&3 && [ -n "$line" ]; do
  word=$(printf '%b_' "${line#=}")
  set -- "$@" "${word%_}"
done
# Docker's client before 23 builds with BuildKit only if it is asked to.
case ${DOCKER_BUILDKIT:-$(docker version --format '{{.Client.Version}}' 2>/dev/null)} in
  1[0-9].* | 2[0-2].*) DOCKER_BUILDKIT=1; export DOCKER_BUILDKIT ;;
esac
umask 077
pipe=
build=
watch=
clean() {
  trap '' HUP INT TERM
  [ -z "$watch" ] || kill "$watch" 2>/dev/null
  [ -z "$build" ] || kill "$build" 2>/dev/null
  [ -z "$pipe" ] || rm -rf "$pipe"
}
trap clean EXIT
trap 'exit 143' HUP INT TERM
pipe=$(mktemp -d) && mkfifo "$pipe/context" || exit 1
env "$@" <"$pipe/context" 2>&1 3<&- &
build=$!
exec 4>"$pipe/context"
rm -rf "$pipe"
pipe=
while [ "$chunks" -gt 0 ]; do
  some=16
  [ "$chunks" -ge 16 ] || some=$chunks
  # Fails once the client has ended. After its time-out the rest may still come, and a context without it must not build.
  hear dd bs=65536 count="$some" iflag=fullblock 2>/dev/null >&4 || { case $? in 124 | 143) exit 143 ;; esac; break; }
  chunks=$((chunks - some))
done
if [ "$chunks" -eq 0 ]; then
  IFS= read -r line <&3
  [ "$line" = end ] || exit 143
fi
exec 4>&-
(
  trap - EXIT HUP INT TERM
  until [ -z "$(hear dd bs=256 count=1 2>/dev/null)" ]; do :; done
  kill "$build" 2>/dev/null
) >/dev/null 2>&1 &
watch=$!
wait "$build"
code=$?
build=
[ "$code" -eq 0 ] || exit "$code"
docker image inspect --format 'built {{.Id}} {{.Os}}/{{.Architecture}} {{json .RootFS.Layers}}' "$name" >&2
