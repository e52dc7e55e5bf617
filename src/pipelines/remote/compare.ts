import { Option } from "effect"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

/** How many bytes of a file are fetched at most to show what differs in it. */
export const textLimit = 256 * 1024

/** A file of a deployed copy. `sha256` is missing where the file may not be read. */
export interface RemoteFile {
  readonly size: number
  readonly sha256: string | undefined
}

const first = "berth-files"
const list = (names: ReadonlyArray<string>) => names.map((name) => `${name}\0`).join("")

// Names come in and answers go out with a NUL at the end of each. The answers are `s SIZE NAME` and `HASH  NAME`. A
// name that sha256sum would escape, or that breaks over lines, gets a process of its own. No script below holds a
// single quote, because each is handed on between two of them.
const ordinary = `{ stat -c "s %s %n" "$@"; sha256sum "$@"; } | tr "\\n" "\\000"`
const odd = `
for name do
  printf "s %s %s\\0" "$(stat -c %s "$name")" "$name"
  hash=$(sha256sum <"$name") && printf "%s  %s\\0" "\${hash%% *}" "$name"
done
`
const inventory = `
root=$1
ordinary=$2
odd=$3
shift 3
[ -e "$root" ] || exit 0
cd "$root" || exit 1
line="
"
count=$#
while [ "$count" -gt 0 ]; do
  [ ! -e "./$1" ] || set -- "$@" "./$1"
  shift
  count=$((count - 1))
done
[ "$#" -gt 0 ] || exit 0
find -H "$@" -type f ! -path "*$line*" ! -path "*\\\\\\\\*" -exec sh -c "$ordinary" sh {} +
find -H "$@" -type f "(" -path "*$line*" -o -path "*\\\\\\\\*" ")" -exec sh -c "$odd" sh {} +
exit 0
`
const inventoryScript = `
LC_ALL=C
export LC_ALL
printf '${first}\\0'
as_root xargs -0 sh -c '${inventory}' sh "$(path_of "$1")" '${ordinary}' '${odd}'
`

/** Sizes and hashes of these files, and of every file below those that are directories, in one command. */
export const inventoryCommand = (remotePath: string, names: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: `comparing ${remotePath}`,
  script: inventoryScript,
  args: [remotePath],
  stdin: list(names),
  sudo
})

const record = /^(?:s (\d+) |([0-9a-f]{64})  )\.\/([^]+)$/

/** Reads the answer of `inventoryCommand`; nothing when its beginning is missing because there was too much of it. */
export const parseInventory = (output: string): Option.Option<ReadonlyMap<string, RemoteFile>> => {
  const [head, ...records] = output.split("\0")
  if (head !== first) return Option.none()
  const files = new Map<string, RemoteFile>()
  for (const [, size, sha256, name] of records.map((text) => record.exec(text) ?? [])) {
    if (name === undefined) continue
    const known = files.get(name) ?? { size: 0, sha256: undefined }
    files.set(name, sha256 === undefined ? { ...known, size: Number(size) } : { ...known, sha256 })
  }
  return Option.some(files)
}

const contents = `
cd "$1" || exit 1
shift
for name do
  printf "%s\\0" "$name"
  head -c ${textLimit} "./$name" | tr -d "\\000"
  printf "\\0"
done
`
const contentsScript = `
LC_ALL=C
export LC_ALL
as_root xargs -0 sh -c '${contents}' sh "$(path_of "$1")"
`

/** The beginnings of these files, without the NUL bytes in them, in one command. */
export const contentsCommand = (remotePath: string, names: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: `comparing ${remotePath}`,
  script: contentsScript,
  args: [remotePath],
  stdin: list(names),
  sudo
})

/** Reads the answer of `contentsCommand`. */
export const parseContents = (output: string): ReadonlyMap<string, string> => {
  const fields = output.split("\0")
  const texts = new Map<string, string>()
  for (let at = 0; at + 2 < fields.length; at += 2) texts.set(fields[at] ?? "", fields[at + 1] ?? "")
  return texts
}
