// Generated from readPrivate.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")" || exit 1
[ "$(as_root readlink -f "./$2" </dev/null)" = "$(pwd -P)/$2" ] || { echo "$2 is a link" >&2; exit 1; }
as_root head -c "$3" "./$2" </dev/null | base64
`
