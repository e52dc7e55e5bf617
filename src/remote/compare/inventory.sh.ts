// Generated from inventory.sh by "npm run scripts".
export const script = `LC_ALL=C
export LC_ALL
printf 'berth-files\\0'
inventory='root=$1
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
find -H "$@" -type f ! -path "*$line*" ! -path "*\\\\\\\\*" -exec sh -c "$ordinary" sh {} +
find -H "$@" -type f "(" -path "*$line*" -o -path "*\\\\\\\\*" ")" -exec sh -c "$odd" sh {} +
exit 0'
ordinary='{ stat -c "s %s %n" "$@"; sha256sum "$@"; } | tr "\\n" "\\000"'
odd='for name do
printf "s %s %s\\0" "$(stat -c %s "$name")" "$name"
hash=$(sha256sum <"$name") && printf "%s  %s\\0" "\${hash%% *}" "$name"
done'
as_root xargs -0 sh -c "$inventory" sh "$(path_of "$1")" "$ordinary" "$odd"
`
