import { type AnswerLimit, mebibyte, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script } from "./proxy/proxyAccess.sh.ts"
import { script as discardScript } from "./proxy/proxyDiscard.sh.ts"
import { script as readScript } from "./proxy/proxyRead.sh.ts"
import { script as writeScript } from "./proxy/proxyWrite.sh.ts"

/** Exit codes of `proxyAccessCommand` for a file that is not readable or not writable. */
export const proxyAccessExit = { unreadable: 3, readOnly: 4 } as const

/** Tries to read the proxy file and to write to it, with the programs that an edit uses. */
export const proxyAccessCommand = (file: string): RemoteCommand => ({
  what: `looking at ${file}`,
  script,
  args: [file],
  sudo: true
})

/** Maximum size of a proxy file that Berth reads, regardless of its number of lines. */
const proxyFileLimit: AnswerLimit = {
  bytes: 2 * mebibyte,
  records: 2 * mebibyte,
  separator: "\n",
  words: "2 MiB",
  help: "Nothing was changed"
}

/** Private copies in the home directory of the server's user: the file's old and new content. */
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

/** Timeout of the lock of an edit, in seconds. */
export const lockSeconds = 30

/** Exit codes of the scripts below; others are those of the programs that they run. */
export const proxyExit = {
  busy: 75,
  changed: 73,
  noBackup: 76,
  restored: 77,
  damaged: 78,
  unusable: 69
} as const

/** Reads the whole file, never in the middle of an edit. */
export const readProxyFile = (file: string): RemoteCommand => ({
  what: `reading ${file}`,
  script: readScript,
  args: [file, String(lockSeconds)],
  sudo: true,
  limit: proxyFileLimit
})

/**
 * Writes the staged content to the file if it has not changed since it was read. Keeps a backup next to it, and
 * restores the old content if the new one is not written completely. Removes the staged copies afterwards.
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
