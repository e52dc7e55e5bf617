// Generated from releaseFiles.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")/.berth/releases/$2/files" || exit 1
tab=$(printf '\\t')
find . -type f -print0 | xargs -0 -r sha256sum | sed "s/^/file$tab/"
told() { [ ! -f "$2" ] || { head -c 1048577 "$2" && echo; } 2>/dev/null | sed "s/^/$1$tab/"; }
noted() { sed -n "s/^$1$tab//p" ../note; }
number=0
noted compose | while IFS= read -r name; do
number=$((number + 1))
told "composefile$number" "./$name"
done
{ noted variables | grep . || echo .env; } | while IFS= read -r name; do told env "./$name"; done
`
