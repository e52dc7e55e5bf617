import { Path } from "@effect/platform"
import { Effect, Option, Stream } from "effect"
import { type Pulled, type PullItem, PullRefused } from "../../schema/deploy/Pull.ts"
import { normalizeRemotePath } from "../../schema/servers/RemotePath.ts"
import type { RemoteFileFailed, SshError } from "../../schema/servers/Ssh.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { ByteCount } from "../../services/runs/events/countBytes.ts"
import { longestUnannounced, type RemoteKind, type SftpSession } from "../../services/ssh/Sftp.ts"
import { isSecretName } from "../projects/files/secretName.ts"
import { joinRemotePath, readRemoteTree, type RemoteTree } from "./remoteTree.ts"

type PullError = PullRefused | LocalFileFailed | RemoteFileFailed | SshError

const atOnce = 4

const modeOf = (remotePath: string) => (isSecretName(remotePath) ? { mode: 0o600 } : {})

const mismatch = (kind: RemoteKind, wanted: PullItem["type"]): string | undefined => {
  if (kind === wanted) return undefined
  if (kind === "link") return "is a link, and links are not followed: name what it leads to"
  return kind === "other" ? "is neither a file nor a directory" : `is a ${kind}, not a ${wanted}`
}

const spelling = (names: ReadonlyArray<string>) => names.join("/").toLowerCase()

/**
 * Rejects a pull if a local link exists in place of one of its directories, because files would be written elsewhere.
 */
const refuseLocalLinks = Effect.fn("pull.refuseLocalLinks")(function*({ directories }: RemoteTree, localPath: string) {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const wanted = new Set(directories.map(spelling))
  yield* Effect.forEach(directories, (below) =>
    Effect.gen(function*() {
      const directory = path.join(localPath, ...below)
      if (Option.isNone(yield* files.find(directory))) return
      const entries = yield* files.list(directory)
      const link = entries.find(({ kind, name }) => kind === "link" && wanted.has(spelling([...below, name])))
      if (link === undefined) return
      return yield* new PullRefused({
        path: path.join(directory, link.name),
        reason: "is a link on this machine, and what is pulled into it would be written elsewhere"
      })
    }), { concurrency: atOnce, discard: true })
})

/**
 * Bounds what a server sends beyond the sizes that it announced, over all files of an item. A file may grow while it is
 * read; a hostile server could announce nothing and send without end.
 */
const boundUnannounced = (root: string) => {
  let left = longestUnannounced
  return (announced: number) => <E>(bytes: Stream.Stream<Uint8Array, E>) =>
    Stream.suspend(() => {
      let room = announced
      return Stream.tap(bytes, ({ length }) => {
        left -= Math.max(0, length - Math.max(0, room))
        room -= length
        return left >= 0 ? Effect.void : new PullRefused({
          path: root,
          reason: "the server sends more than 64 MiB beyond the sizes that it announced: pull parts of it"
        })
      })
    })
}

const pullDirectory = (session: SftpSession, remotePath: string, localPath: string, count: ByteCount) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const tree = yield* readRemoteTree(session, remotePath)
    yield* count.expect(tree.bytes)
    yield* refuseLocalLinks(tree, localPath)
    yield* Effect.forEach(tree.directories, (below) => files.makeDirectory(path.join(localPath, ...below)), {
      discard: true
    })
    const bounded = boundUnannounced(remotePath)
    const sizes = yield* Effect.forEach(
      tree.files,
      ({ below, size }) => {
        const from = joinRemotePath(remotePath, below)
        const bytes = count.passing(bounded(size)(session.read(from)))
        return files.save(path.join(localPath, ...below), bytes, modeOf(from))
      },
      { concurrency: atOnce }
    )
    return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
  })

const pullFile = (session: SftpSession, remotePath: string, localPath: string, count: ByteCount, size: number) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    yield* count.expect(size)
    yield* files.makeDirectory(path.dirname(localPath))
    const bytes = count.passing(boundUnannounced(remotePath)(size)(session.read(remotePath)))
    return { files: 1, bytes: yield* files.save(localPath, bytes, modeOf(remotePath)) }
  })

/**
 * Downloads one item. Each file is written completely or not at all, and never outside the local path. Env files are
 * readable only by their owner.
 * @param count receives the expected and the received bytes
 */
export const pullItem = Effect.fn("pull.item")(function*(
  session: SftpSession,
  { localPath, name, remotePath, type }: PullItem,
  count: ByteCount
): Effect.fn.Return<Pulled, PullError, LocalFiles | Path.Path> {
  const from = normalizeRemotePath(remotePath)
  const { kind, size } = yield* session.stat(from)
  const reason = mismatch(kind, type)
  if (reason !== undefined) return yield* new PullRefused({ path: from, reason })
  const to = (yield* Path.Path).normalize(localPath)
  const brought = yield* (type === "file"
    ? pullFile(session, from, to, count, size)
    : pullDirectory(session, from, to, count))
  return { name, localPath, ...brought }
})
