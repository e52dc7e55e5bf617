// Generated from listBackups.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")" 2>/dev/null || exit 0
for manifest in .berth/backups/[0-9]*/manifest; do
[ -f "$manifest" ] || continue
number=\${manifest%/manifest}
printf 'backup\\t%s\\n' "\${number##*/}"
cat "$manifest" || exit 1
done
printf 'rest\\n'
for note in .berth/releases/[0-9]*/note; do
[ -f "$note" ] || continue
release=\${note%/note}
printf 'release\\t%s\\t%s\\n' "\${release##*/}" "$(sed -n 's/^at	//p' "$note" | head -n 1)"
done
df -Pk . 2>/dev/null | awk 'END { print "free\\t" $(NF - 2) }'
[ ! -s .berth/stopped ] || tail -n +3 .berth/stopped | sed 's/^/stopped	/'
exit 0
`
