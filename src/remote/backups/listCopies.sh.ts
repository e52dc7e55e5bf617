// Generated from listCopies.sh by "npm run scripts".
export const script = `root=$(path_of "$1")
if cd "$root" 2>/dev/null; then
for manifest in [0-9]*/manifest; do
[ -f "$manifest" ] || continue
printf 'copy\\t%s\\n' "\${manifest%/manifest}"
cat "$manifest" || exit 1
done
else
while [ ! -d "$root" ]; do root=$(dirname "$root"); done
cd "$root" || exit 1
fi
printf 'rest\\n'
df -Pk . 2>/dev/null | awk 'END { print "free\\t" $(NF - 2) }'
exit 0
`
