// Generated from findBuilt.sh by "npm run scripts".
export const script = `format='{{.Id}} {{.Os}}/{{.Architecture}} {{json .RootFS.Layers}}'
for name; do
image=$(as_root docker image inspect --format "$format" "$name" 2>/dev/null </dev/null) &&
printf '%s %s\\n' "$name" "$image"
done
true
`
