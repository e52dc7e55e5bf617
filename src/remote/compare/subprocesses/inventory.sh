# shellcheck shell=sh
# Subprocess of inventory.sh: DIRECTORY ORDINARY ODD NAME…, with the scripts for names of both kinds, and the names to
# find.
root=$1
ordinary=$2
odd=$3
shift 3
[ -e "$root" ] || exit 0
cd "$root" || exit 1
line="
"
count=$#
while [ "$count" -gt 0 ]; do
  [ ! -e "./$1" ] || set -- "$@" "./$1"
  shift
  count=$((count - 1))
done
[ "$#" -gt 0 ] || exit 0
find -H "$@" -type f ! -path "*$line*" ! -path "*\\\\*" -exec sh -c "$ordinary" sh {} +
find -H "$@" -type f "(" -path "*$line*" -o -path "*\\\\*" ")" -exec sh -c "$odd" sh {} +
exit 0
