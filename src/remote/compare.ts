import { Option } from "effect"
import { type AnswerLimit, mebibyte, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script as contentsScript } from "./compare/contents.sh.ts"
import { script as inventoryScript } from "./compare/inventory.sh.ts"

/** Maximum bytes of one file to fetch for a diff. */
export const textLimit = 256 * 1024

/** Maximum number of files of a deployed copy to compare by size and hash. */
const mostFiles = 50_000

const inventoryLimit: AnswerLimit = {
  bytes: 8 * mebibyte,
  records: 2 * mostFiles + 1,
  separator: "\0",
  words: "50,000 files",
  help: "Nothing was compared: keep what need not be compared in another directory than data and \"files\" of " +
    "container.json"
}

/** Maximum bytes to fetch for the diffs of all files. */
export const mostTextBytes = 8 * mebibyte

/** A file of a deployed copy. `sha256` is missing if the file is not readable. */
export interface RemoteFile {
  readonly size: number
  readonly sha256: string | undefined
}

const first = "berth-files"
const list = (names: ReadonlyArray<string>) => names.map((name) => `${name}\0`).join("")

/** Reads sizes and hashes of the given files, and of every file below the given directories, in one command. */
export const inventoryCommand = (remotePath: string, names: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: `comparing ${remotePath}`,
  script: inventoryScript,
  args: [remotePath],
  stdin: list(names),
  sudo,
  limit: inventoryLimit
})

const record = /^(?:s (\d+) |([0-9a-f]{64})  )\.\/([^]+)$/

/** Parses the answer of `inventoryCommand`; none if it does not start as expected. */
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

/** Reads the beginnings of the given files without NUL bytes, in one command. */
export const contentsCommand = (remotePath: string, names: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: `comparing ${remotePath}`,
  script: contentsScript,
  args: [remotePath, String(textLimit)],
  stdin: list(names),
  sudo,
  limit: {
    bytes: mostTextBytes + mebibyte,
    records: 2 * names.length,
    separator: "\0",
    words: `the ${names.length} texts that differ`,
    help: "They may have changed meanwhile: compare again"
  }
})

/** Parses the answer of `contentsCommand`. */
export const parseContents = (output: string): ReadonlyMap<string, string> => {
  const fields = output.split("\0")
  const texts = new Map<string, string>()
  for (let at = 0; at + 2 < fields.length; at += 2) texts.set(fields[at] ?? "", fields[at + 1] ?? "")
  return texts
}
