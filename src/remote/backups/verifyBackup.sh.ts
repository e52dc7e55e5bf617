// Generated from verifyBackup.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")/$2" 2>/dev/null || { echo "absent"; exit 0; }
tab=$(printf '\\t')
while IFS="$tab" read -r name file bytes sum; do
if [ ! -f "./$file" ]; then printf 'missing\\t%s\\n' "$name"
elif [ "$(($(wc -c <"./$file")))" -eq "$bytes" ] && [ "$(sha256sum <"./$file" | cut -c 1-64)" = "$sum" ]; then printf 'whole\\t%s\\n' "$name"
else printf 'changed\\t%s\\n' "$name"
fi
done
`
