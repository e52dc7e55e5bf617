import { type AnswerLimit, mebibyte } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script as discardScript } from "./proxyDiscard.sh.ts"
import { script as readScript } from "./proxyRead.sh.ts"
import { script as writeScript } from "./proxyWrite.sh.ts"

/** The most of a proxy file that Berth reads; how many lines that is does not matter. */
const proxyFileLimit: AnswerLimit = {
  bytes: 2 * mebibyte,
  records: 2 * mebibyte,
  separator: "\n",
  words: "2 MiB",
  help: "Nothing was changed"
}

/** Private copies of the file in the home of the server's user: what it was, and what it should be. */
export interface Staged {
  readonly before: string
  readonly after: string
}

const stagePrefix = ".berth-proxy-"

/** Names for the copies of one edit. `id` makes them unique. */
export const buildStagedNames = (id: string): Staged => ({
  before: `${stagePrefix}${id}-before`,
  after: `${stagePrefix}${id}-after`
})

/** Time-out of the lock of an edit, in seconds. */
export const lockSeconds = 30

/** The exit codes of the scripts below, where they are not those of the programs they run. */
export const proxyExit = {
  busy: 75,
  changed: 73,
  noBackup: 76,
  restored: 77,
  damaged: 78,
  unusable: 69
} as const

/** Reads the whole file, never in the middle of somebody's edit. */
export const readProxyFile = (file: string): RemoteCommand => ({
  what: `reading ${file}`,
  script: readScript,
  args: [file, String(lockSeconds)],
  sudo: true,
  limit: proxyFileLimit
})

/**
 * Writes the staged bytes into the file if it still holds what was read, keeps what it held beside it, and puts that
 * back when the new bytes do not arrive whole. The staged copies are gone afterwards.
 */
export const writeProxyFile = (file: string, { after, before }: Staged): RemoteCommand => ({
  what: `writing ${file}`,
  script: writeScript,
  args: [file, before, after, String(lockSeconds)],
  sudo: true
})

/** Removes staged copies after a write whose outcome is unknown. */
export const discardStaged = ({ after, before }: Staged): RemoteCommand => ({
  what: "removing private copies of the proxy file",
  script: discardScript,
  args: [before, after, String(lockSeconds)],
  sudo: false
})
