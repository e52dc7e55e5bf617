// Generated from tree.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")" || exit 1
tab=$(printf '\\t')
find "./$2" -type f -exec stat -c "entry$tab%a$tab%s$tab%n" {} + 2>/dev/null | head -n "$3"
find "./$2" ! -type l -exec sh -c 'for name do [ -r "$name" ] || { echo unread; exit; }; done' sh {} + 2>/dev/null | head -n 1
exit 0
`
