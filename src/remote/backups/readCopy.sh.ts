// Generated from readCopy.sh by "npm run scripts".
export const script = `exec cat "$(path_of "$1")/$2/$3"
`
