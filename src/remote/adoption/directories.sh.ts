// Generated from directories.sh by "npm run scripts".
export const script = `number=0
while IFS= read -r given; do
number=$((number + 1))
path=$(path_of "$given")
if real=$(cd "$path" 2>/dev/null && pwd -P); then
writable=no
[ ! -w "$real" ] || writable=yes
printf 'directory\\t%s\\t%s\\t%s\\n' "$number" "$writable" "$real"
elif as_root test -d "$path" 2>/dev/null </dev/null; then
printf 'directory\\t%s\\tno\\t%s\\n' "$number" "$path"
fi
done
exit 0
`
