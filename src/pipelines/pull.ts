import { Path } from "@effect/platform"
import { Array as Arr, Chunk, Effect, Either, Option, Ref, Stream } from "effect"
import { LocalPathInvalid } from "../schema/basics.ts"
import { type Pulled, type PullItem, PullRefused, type PullRequest, PullResult } from "../schema/compare.ts"
import { type PathOutside } from "../schema/projects.ts"
import type { RunStoreUnavailable } from "../schema/runs.ts"
import {
  normalizeRemotePath,
  parseRemotePath,
  type RemotePathInvalid,
  type ServerUnresolved
} from "../schema/servers.ts"
import type { RemoteFileFailed, SshError } from "../schema/ssh.ts"
import { formatBytes, pluralize, quoteInput } from "../schema/words.ts"
import { capacity } from "../services/limits.ts"
import { LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import { type FileLocked, makePullLock } from "../services/locks/Locks.ts"
import { type ByteCount, countBytes } from "../services/runs/events.ts"
import { type RunFailure, RunRequest, Runs } from "../services/runs/Runs.ts"
import { executeStep } from "../services/runs/Steps.ts"
import { scrubSecrets, Settings, type SettingsError } from "../services/settings/Settings.ts"
import { type RemoteEntry, type RemoteKind, Sftp, type SftpSession } from "../services/ssh/Sftp.ts"
import { isSecretName } from "./projects/files.ts"
import { permitPath } from "./projects/paths.ts"
import { withoutSecrets } from "./secrets/declaredSecrets.ts"
import { refuseRunning, type SuspendedTrust, suspendTrust } from "./trust.ts"

const device = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?$/i
const forbidden = /[<>:"|?*\p{Cc}]|[. ]$/u

const problem = (name: string, separator: string): string | undefined => {
  if (name === "" || name === "." || name === "..") return "is not a name"
  if (name.includes("/") || name.includes("\\") || name.includes("\0")) return "would leave the directory"
  if (/^[A-Za-z]:/.test(name)) return "begins with a drive letter"
  if (separator === "\\" && (device.test(name) || forbidden.test(name))) return "is not a name that Windows allows"
  return undefined
}

/**
 * Accepts a name from a server if it is a plain entry name of a local directory on any system. Left is the reason to
 * reject it.
 * @param separator separator of local paths, which identifies Windows
 */
export const checkLocalName = (name: string, separator: string): Either.Either<string, string> => {
  const reason = problem(name, separator)
  return reason === undefined ? Either.right(name) : Either.left(`${quoteInput(name)} ${reason}`)
}

/** Path below a remote directory as names, each of which is safe on this machine. */
type PathSegments = ReadonlyArray<string>

/** A file of a remote directory, and the size that the server announces for it. */
interface RemoteFile {
  readonly below: PathSegments
  readonly size: number
}

/** Directories below a remote directory, including itself, parents first; its files, and their total bytes. */
interface RemoteTree {
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
const joinRemotePath = (root: string, below: PathSegments): string => [root, ...below].join("/")

/**
 * Reads the tree below a remote directory level by level; skips links and special files. Entries are counted as they
 * arrive, because a single directory may exceed the limit.
 */
const readRemoteTree = Effect.fn("pull.remoteTree")(function*(
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
  let left: number = capacity.unannounced
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

// Larger files are no env files of a deploy, which are read whole.
const largestEnvFile = 1024 * 1024

/** Leaves out the secrets that a deploy has added to an env file: they belong on no disk but the server's. */
const omitSecrets = (remotePath: string, size: number) => <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  !isSecretName(remotePath) || size > largestEnvFile ? bytes : Stream.unwrap(
    Effect.map(Stream.runCollect(bytes), (pieces) => {
      const whole = Buffer.concat(Chunk.toReadonlyArray(pieces))
      const text = whole.toString("utf8")
      const own = withoutSecrets(text)
      return Stream.make(own === text ? whole : Buffer.from(own))
    })
  )

/** Rejects a pull that the local disk cannot hold, before its first byte. A disk that does not tell holds it. */
const refuseTooBig = (remotePath: string, localPath: string, bytes: number) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const { find, freeBytes } = yield* LocalFiles
    const findExisting = (file: string): Effect.Effect<string, LocalFileFailed> =>
      Effect.flatMap(find(file), (found) =>
        Option.isSome(found) || path.dirname(file) === file ? Effect.succeed(file) : findExisting(path.dirname(file)))
    const free = yield* Effect.option(Effect.flatMap(findExisting(path.dirname(localPath)), freeBytes))
    if (Option.isNone(free) || bytes <= free.value) {
      return
    }
    return yield* new PullRefused({
      path: remotePath,
      reason:
        `has ${formatBytes(bytes)}, and the disk of ${localPath} has ${
          formatBytes(free.value)
        } free. Nothing of it was ` +
        "pulled: free disk space, or pull parts of it"
    })
  })

const pullDirectory = (session: SftpSession, remotePath: string, localPath: string, count: ByteCount) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const tree = yield* readRemoteTree(session, remotePath)
    yield* refuseTooBig(remotePath, localPath, tree.bytes)
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
        const bytes = omitSecrets(from, size)(count.passing(bounded(size)(session.read(from))))
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
    yield* refuseTooBig(remotePath, localPath, size)
    yield* count.expect(size)
    yield* files.makeDirectory(path.dirname(localPath))
    const bytes = omitSecrets(remotePath, size)(
      count.passing(boundUnannounced(remotePath)(size)(session.read(remotePath)))
    )
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

const itemsAtOnce = 2

const absolute = (path: Path.Path) => (localPath: string, index: number) =>
  path.isAbsolute(localPath) && !localPath.includes("\0")
    ? Effect.void
    : new LocalPathInvalid({ field: `files[${index}].localPath`, path: localPath, reason: "is not absolute" })

/** Has files end the trust once a content has come whole and before it is in place, however long the server held it back. */
const saveUntrusted = (files: LocalFiles["Type"], { end }: SuspendedTrust): LocalFiles["Type"] => ({
  ...files,
  save: (file, content, options) => {
    const ended = Effect.mapError(end, ({ message }) => new LocalFileFailed({ path: file, reason: message }))
    return files.save(file, Stream.concat(content, Stream.drain(Stream.fromEffect(ended))), options)
  }
})

/**
 * Downloads files and directories of a server. An item that fails is listed in `errors`; the pull only fails if the
 * server cannot be reached.
 */
export const pull = Effect.fn("pull")(function*(
  { files, serverId }: PullRequest
): Effect.fn.Return<
  PullResult,
  | LocalPathInvalid
  | PathOutside
  | RemotePathInvalid
  | ServerUnresolved
  | SettingsError
  | SshError
  | FileLocked
  | LocalFileFailed
  | PullRefused
  | RunFailure
  | RunStoreUnavailable,
  Settings | Sftp | LocalFiles | Path.Path | Runs
> {
  const server = yield* (yield* Settings).server(serverId)
  const path = yield* Path.Path
  yield* Effect.forEach(
    files,
    ({ localPath, remotePath }, index) =>
      parseRemotePath(`files[${index}].remotePath`, remotePath).pipe(
        Effect.zipRight(absolute(path)(localPath, index)),
        Effect.zipRight(permitPath(localPath))
      ),
    {
      discard: true
    }
  )
  const localPaths = files.map(({ localPath }) => localPath)
  const pullWithout = (trust: SuspendedTrust) =>
    Effect.gen(function*() {
      // A run that waited for its turn may find a build of the machine's user.
      yield* refuseRunning(localPaths)
      const session = yield* (yield* Sftp).session(server)
      const count = yield* countBytes("pull", 0)
      const local = saveUntrusted(yield* LocalFiles, trust)
      const outcomes = yield* Effect.forEach(files, (item) =>
        pullItem(session, item, count).pipe(
          Effect.provideService(LocalFiles, local),
          Effect.catchAll(({ message }) =>
            Effect.flatMap(scrubSecrets(message), (error) => Effect.fail({ name: item.name, error }))
          ),
          Effect.either
        ), { concurrency: itemsAtOnce })
      const [errors, pulled] = Arr.separate(outcomes)
      return { pulled, errors }
    }).pipe(Effect.scoped, Effect.ensuring(trust.finish))
  const runs = yield* Runs
  const request = yield* RunRequest
  const isStarted = yield* Ref.make(false)
  return yield* Effect.acquireUseRelease(
    suspendTrust(localPaths),
    (trust) =>
      Effect.zipRight(
        refuseRunning(localPaths),
        runs.run(
          {
            kind: "pull",
            key: makePullLock(server),
            subject: { serverId: server.id, serverName: server.name },
            request: { serverId: server.id, files },
            result: PullResult,
            afterRestart: "give up"
          },
          executeStep(
            "pull",
            pullWithout(trust),
            ({ errors, pulled }) => `${pluralize(pulled.length, "item")}, ${pluralize(errors.length, "failure")}`
          )
        )
      ).pipe(Effect.provideService(RunRequest, {
        ...request,
        started: (run) =>
          Ref.set(isStarted, true).pipe(
            // Cancelled while it waits for its turn, a run never begins its program, which would resume the trust.
            Effect.zipRight(Effect.forkDaemon(Effect.ensuring(runs.await(run.id), trust.resume))),
            Effect.zipRight(request.started(run))
          )
      })),
    ({ resume }) => Effect.unlessEffect(resume, Ref.get(isStarted))
  )
})
