// Generated from mounts.sh by "npm run scripts".
export const script = `stack_places() {
stack_format="{{.Label \\"com.docker.compose.project.working_dir\\"}}	$1"
shift
stack_listed=$(as_root docker ps --no-trunc "$@" --format "$stack_format" </dev/null) || return 1
printf '%s\\n' "$stack_listed" | while IFS= read -r stack_line; do
stack_place=\${stack_line%%	*}
case $stack_place in
/*) [ ! "$stack_place" -ef "\${stack_here:-.}" ] || stack_place=. ;;
*) stack_place= ;;
esac
printf '%s\\t%s\\n' "$stack_place" "\${stack_line#*	}"
done
}
stack_ps() {
stack_all=$(stack_places "$@") || return 1
printf '%s\\n' "$stack_all" | sed -n 's/^\\.	//p'
}
stack_names() {
if [ -n "\${1:-}" ]; then printf '%s\\n' "$1"
else
stack_base=\${stack_here:-$PWD}
stack_base=\${stack_base%/}
printf '%s\\n' "\${stack_base##*/}"
(cd "\${stack_here:-.}" 2>/dev/null && stack_base=$(pwd -P) && printf '%s\\n' "\${stack_base##*/}")
fi | LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C sed -e 's/[^a-z0-9_-]//g' -e p -e 's/^[_-]*//' | LC_ALL=C sort -u
}
named_one_of() {
stack_is=$1 awk -F '\\t' '
BEGIN { for (at = split(ENVIRON["stack_is"], all, "\\n"); at > 0; at--) if (all[at] != "") is[all[at]] = 1 }
$1 in is { sub(/^[^\\t]*\\t/, ""); print }'
}
foreign_among() {
stack_is=$1 awk -F '\\t' '
BEGIN { for (at = split(ENVIRON["stack_is"], all, "\\n"); at > 0; at--) if (all[at] != "") is[all[at]] = 1 }
$1 != "." && $1 != "" && $2 in is { print $1 "\\t" $3 "\\t" $2 }'
}
stack_foreign() {
stack_all=$(stack_places "{{.Label \\"com.docker.compose.project\\"}}	{{.Names}}" -a) || return 1
foreign_of "$stack_all"
}
foreign_of() {
stack_all=$1
stack_is=$({ printf '%s\\n' "$stack_all" | sed -n 's/^\\.	\\([^	]*\\)	.*/\\1/p'; sed -n 's/^project	//p' .berth/stack 2>/dev/null; } | grep . || stack_names)
printf '%s\\n' "$stack_all" | foreign_among "$stack_is"
}
cd "$(path_of "$1")" 2>/dev/null || exit 0
ids=$(stack_ps '{{.ID}}') || exit 1
[ -z "$ids" ] || as_root docker inspect --type container --format '{{index .Config.Labels "com.docker.compose.service"}}{{range .Mounts}}{{if eq .Type "volume"}} {{.Name}}{{end}}{{end}}' $ids </dev/null
`
