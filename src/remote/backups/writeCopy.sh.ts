// Generated from writeCopy.sh by "npm run scripts".
export const script = `root=$(path_of "$1")
umask 077
mkdir -p "$root/$2" && cd "$root" || exit 1
[ ! -f "$2/manifest" ] || { echo "there is a whole $2 already" >&2; exit 1; }
for left in [0-9]*/; do
left=\${left%/}
[ "$left" = "$2" ] || [ -f "$left/manifest" ] || rm -rf "./\${left:?}"
done
said=$(cat 2>&1 >"$2/$3") || {
echo "$3: $said" >&2
echo "$(df -Pk . | awk 'END { print $(NF - 2) }') KiB are free there" >&2
exit 1
}
`
