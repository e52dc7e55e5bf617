// Generated from contents.sh by "npm run scripts".
export const script = `LC_ALL=C
export LC_ALL
contents='cd "$1" || exit 1
limit=$2
shift 2
for name do
printf "%s\\0" "$name"
head -c "$limit" "./$name" | tr -d "\\000"
printf "\\0"
done'
as_root xargs -0 sh -c "$contents" sh "$(path_of "$1")" "$2"
`
