// Generated from verifyBackup.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")/.berth/backups/$2" 2>/dev/null || { echo "absent"; exit 0; }
tab=$(printf '\\t')
sed -n "s/^data$tab//p" manifest | while IFS="$tab" read -r name file bytes sum _; do
if [ ! -f "./$file" ]; then printf 'missing\\t%s\\n' "$name"
elif [ "$(($(wc -c <"./$file")))" -eq "$bytes" ] && [ "$(sha256sum <"./$file" | cut -c 1-64)" = "$sum" ]; then printf 'whole\\t%s\\n' "$name"
else printf 'changed\\t%s\\n' "$name"
fi
done
`
