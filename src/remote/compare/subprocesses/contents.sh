# shellcheck shell=sh
# Subprocess of contents.sh: DIRECTORY LIMIT NAME…
cd "$1" || exit 1
limit=$2
shift 2
for name do
  printf "%s\0" "$name"
  head -c "$limit" "./$name" | tr -d "\000"
  printf "\0"
done
