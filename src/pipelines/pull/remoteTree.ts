import { Path } from "@effect/platform"
import { Effect, Either, Stream } from "effect"
import { PullRefused } from "../../schema/deploy/Pull.ts"
import type { RemoteFileFailed, SshError } from "../../schema/servers/Ssh.ts"
import type { RemoteEntry, SftpSession } from "../../services/ssh/Sftp.ts"
import { checkLocalName } from "./checkLocalName.ts"

/** Path below a remote directory as names, each of which is safe on this machine. */
export type PathSegments = ReadonlyArray<string>

/** A file of a remote directory, and the size that the server announces for it. */
export interface RemoteFile {
  readonly below: PathSegments
  readonly size: number
}

/** Directories below a remote directory, including itself, parents first; its files, and their total bytes. */
export interface RemoteTree {
  readonly directories: ReadonlyArray<PathSegments>
  readonly files: ReadonlyArray<RemoteFile>
  readonly bytes: number
}

/** Limits of a pull: entries, depth of directories, and characters of all paths. */
const mostEntries = 200_000
const mostLevels = 100
const mostCharacters = 32 * 1024 * 1024
const listsAtOnce = 8

/** Absolute path of an entry below a remote directory. */
export const joinRemotePath = (root: string, below: PathSegments): string => [root, ...below].join("/")

/**
 * Reads the tree below a remote directory level by level; skips links and special files. Entries are counted as they
 * arrive, because a single directory may exceed the limit.
 */
export const readRemoteTree = Effect.fn("pull.remoteTree")(function*(
  session: SftpSession,
  root: string
): Effect.fn.Return<RemoteTree, PullRefused | RemoteFileFailed | SshError, Path.Path> {
  const { sep } = yield* Path.Path
  const directories: Array<PathSegments> = []
  const files: Array<RemoteFile> = []
  let bytes = 0
  let entries = 0
  let characters = 0
  const tooMuch = (reason: string) => new PullRefused({ path: root, reason: `${reason}: pull parts of it` })

  /**
   * Records an entry and queues it for the next level if it is a directory; returns the reason if the tree cannot be
   * pulled.
   */
  const note = (parent: PathSegments, next: Array<PathSegments>) => {
    const path = joinRemotePath(root, parent)
    return ({ kind, name, size }: RemoteEntry): PullRefused | undefined => {
      entries += 1
      characters += path.length + name.length
      if (entries > mostEntries) return tooMuch(`holds more than ${mostEntries} files`)
      if (characters > mostCharacters) return tooMuch("has paths of more than 32 MiB together")
      if (kind !== "file" && kind !== "directory") return undefined
      const safe = checkLocalName(name, sep)
      if (Either.isLeft(safe)) return new PullRefused({ path, reason: `the name ${safe.left}` })
      const below = [...parent, safe.right]
      if (kind === "file") {
        files.push({ below, size })
        bytes += size
        return undefined
      }
      next.push(below)
      return below.length > mostLevels ? tooMuch(`is nested more than ${mostLevels} directories deep`) : undefined
    }
  }
  let level: ReadonlyArray<PathSegments> = [[]]
  while (level.length > 0) {
    for (const below of level) directories.push(below)
    const next: Array<PathSegments> = []
    yield* Effect.forEach(level, (parent) => {
      const noteEntry = note(parent, next)
      return Stream.runForEachChunk(session.list(joinRemotePath(root, parent)), (found) => {
        for (const entry of found) {
          const refusal = noteEntry(entry)
          if (refusal !== undefined) return refusal
        }
        return Effect.void
      })
    }, { concurrency: listsAtOnce, discard: true })
    level = next
  }
  return { directories, files, bytes }
})
