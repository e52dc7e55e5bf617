import { Path } from "@effect/platform"
import { Effect } from "effect"
import { PullRefused } from "../../schema/Pull.ts"
import type { RemoteFileFailed, SshError } from "../../schema/Ssh.ts"
import type { SftpSession } from "../../services/ssh/Sftp.ts"
import { localName } from "./localName.ts"

/** Where something below a remote directory is: the names on the way to it, each of which is safe on this machine. */
export type Below = ReadonlyArray<string>

/** The directories below a remote directory, itself included and parents first, its files, and how many bytes those have. */
export interface RemoteTree {
  readonly directories: ReadonlyArray<Below>
  readonly files: ReadonlyArray<Below>
  readonly bytes: number
}

const mostEntries = 200_000
const listsAtOnce = 8

/** The path of something below a remote directory. */
export const remoteAt = (root: string, below: Below): string => [root, ...below].join("/")

/** Reads what is below a remote directory, level by level; links and special files are left out. */
export const remoteTree = Effect.fn("pull.remoteTree")(function*(
  session: SftpSession,
  root: string
): Effect.fn.Return<RemoteTree, PullRefused | RemoteFileFailed | SshError, Path.Path> {
  const { sep } = yield* Path.Path
  const directories: Array<Below> = []
  const files: Array<Below> = []
  let bytes = 0
  let level: ReadonlyArray<Below> = [[]]
  while (level.length > 0) {
    directories.push(...level)
    const listed = yield* Effect.forEach(level, (parent) =>
      Effect.gen(function*() {
        const path = remoteAt(root, parent)
        const entries = (yield* session.list(path)).filter(({ kind }) => kind === "file" || kind === "directory")
        return yield* Effect.forEach(entries, ({ kind, name, size }) =>
          Effect.mapBoth(localName(name, sep), {
            onFailure: (reason) => new PullRefused({ path, reason: `the name ${reason}` }),
            onSuccess: (safe) => ({ kind, size, below: [...parent, safe] })
          }))
      }), { concurrency: listsAtOnce })
    const found = listed.flat()
    for (const { below, kind, size } of found) {
      if (kind !== "file") continue
      files.push(below)
      bytes += size
    }
    level = found.filter(({ kind }) => kind === "directory").map(({ below }) => below)
    if (files.length + directories.length + level.length > mostEntries) {
      return yield* new PullRefused({ path: root, reason: `holds more than ${mostEntries} files` })
    }
  }
  return { directories, files, bytes }
})
