// Generated from pathOf.sh by "npm run scripts".
export const script = `path_of() {
case $1 in
"~") printf '%s\\n' "$HOME" ;;
"~/"*) printf '%s\\n' "$HOME/\${1#??}" ;;
-*) printf '%s\\n' "./$1" ;;
*) printf '%s\\n' "$1" ;;
esac
}
`
