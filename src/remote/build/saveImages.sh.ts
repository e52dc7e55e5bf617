// Generated from saveImages.sh by "npm run scripts".
export const script = `as_root docker save "$@" </dev/null
`
