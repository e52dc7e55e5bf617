// Generated from markCopies.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")/.berth/backups/$2" || exit 1
umask 077
copies=$(cat)
printf '%s\\n' "$copies" | awk -F '\\t' 'NR == FNR { now[$2] = 1; next } $1 != "copy" || !($2 in now)' - manifest >manifest.new &&
printf '%s\\n' "$copies" >>manifest.new && mv -f manifest.new manifest
`
