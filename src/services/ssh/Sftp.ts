import { Chunk, Context, Deferred, Effect, Either, Layer, Option, Schedule, type Scope, Stream } from "effect"
import type { FileEntryWithStats, SFTPWrapper, Stats } from "ssh2"
import { ConnectionLost, RemoteFileFailed, RemoteTimeout, type ServerAccess, type SshError } from "../../schema/ssh.ts"
import { capacity } from "../limits.ts"
import { type ChannelKind, Connections, openChannel } from "./Connections.ts"
import { pickServerFields, requireConnected } from "./logIn.ts"

/** Type of a remote entry; links are not followed. */
export type RemoteKind = "file" | "directory" | "link" | "other"

/** An entry of a remote directory. `size` is in bytes. */
export interface RemoteEntry {
  readonly name: string
  readonly kind: RemoteKind
  readonly size: number
}

/** A path may start with `~/`, the home of the server's user. */
export interface SftpSession {
  readonly stat: (path: string) => Effect.Effect<RemoteEntry, RemoteFileFailed | SshError>
  /** Streams the entries of a directory in the server's order: at most 200,000. */
  readonly list: (path: string) => Stream.Stream<RemoteEntry, RemoteFileFailed | SshError>
  /**
   * Streams a file, read ahead in parallel and emitted in order: as long as the server announces it, and without a size
   * at most `capacity.unannounced`. Interruption ends the requests.
   */
  readonly read: (path: string) => Stream.Stream<Uint8Array, RemoteFileFailed | SshError>
  /** Writes a new file that only its owner may read; fails if the name exists. */
  readonly writePrivate: (path: string, content: Uint8Array) => Effect.Effect<void, RemoteFileFailed | SshError>
}

/** File transfer with deployment servers. */
export class Sftp extends Context.Tag("berth/Sftp")<Sftp, {
  /** Opens a session on the server's pooled connection; it occupies one of the few channels until the scope closes. */
  readonly session: (server: ServerAccess) => Effect.Effect<SftpSession, SshError, Scope.Scope>
}>() {}

/** Timeout of a single reply: a hanging network disk must not hang Berth. */
const answerSeconds = 60
const tick = "5 seconds"
const answerTicks = answerSeconds / 5

/** Statuses of SFTP version 3 (draft-ietf-secsh-filexfer-02, section 7). */
const statuses = { end: 1, noSuchFile: 2, permissionDenied: 3, unsupported: 8 }

const readSftpCode = (error: Error): unknown => "code" in error ? error.code : undefined

const inWords = (error: Error): string => {
  const code = readSftpCode(error)
  if (code === statuses.noSuchFile) return "no such file or directory"
  if (code === statuses.permissionDenied) return "permission denied"
  if (code === statuses.unsupported) return "the server's SFTP cannot do that"
  return error.message === "Failure" ? "the server reports a failure without a reason" : error.message
}

const transfer: ChannelKind<SFTPWrapper> = {
  start: (client, done) => {
    client.sftp(done)
  },
  stop: () => false,
  close: (session) => session.end()
}

/** A request that the server has not answered yet. */
interface Pending {
  ticks: number
  readonly late: () => RemoteTimeout
  readonly fail: (reason: ConnectionLost | RemoteTimeout) => void
}

type SftpCallback<A> = (error: Error | null | undefined, value: A) => void

/** Requests of one session. They fail together with it, or individually when the server does not reply in time. */
const makeSftpRequests = (server: ServerAccess, connections: typeof Connections.Service) =>
  Effect.gen(function*() {
    const { channel: sftp, closed, connection } = yield* openChannel(connections, server, transfer)
    const pending = new Set<Pending>()
    const ended = new ConnectionLost({ ...pickServerFields(server), reason: "the server ended the file transfer" })
    let over: ConnectionLost | undefined
    yield* Deferred.await(closed).pipe(
      Effect.zipRight(requireConnected(server, connection)),
      Effect.match({ onFailure: (lost) => lost, onSuccess: () => ended }),
      Effect.map((reason) => {
        over = reason
        for (const request of pending) request.fail(reason)
      }),
      Effect.interruptible,
      Effect.forkScoped
    )
    yield* Effect.sync(() => {
      for (const request of pending) {
        request.ticks += 1
        if (request.ticks > answerTicks) request.fail(request.late())
      }
    }).pipe(Effect.repeat(Schedule.spaced(tick)), Effect.interruptible, Effect.forkScoped)

    // All requests share one timer: a race and a timer for each would cost more than its transfer.
    const answered = <A, E>(
      path: string,
      what: string,
      start: (answer: (outcome: Effect.Effect<A, E>) => void) => void
    ) =>
      Effect.async<A, E | ConnectionLost | RemoteTimeout>((resume) => {
        if (over !== undefined) return resume(over)
        const late = () =>
          new RemoteTimeout({ ...pickServerFields(server), what: `${what} ${path}`, seconds: answerSeconds })
        const request: Pending = { ticks: 0, late, fail: resume }
        pending.add(request)
        start((outcome) => {
          pending.delete(request)
          resume(outcome)
        })
        return Effect.sync(() => pending.delete(request))
      })

    const failed = (path: string, error: Error) =>
      new RemoteFileFailed({ ...pickServerFields(server), path, reason: inWords(error) })

    const ask = <A>(path: string, what: string, request: (answer: SftpCallback<A>) => void) =>
      answered<A, RemoteFileFailed>(
        path,
        what,
        (answer) => request((error, value) => answer(error ? failed(path, error) : Effect.succeed(value)))
      )

    return { sftp, place: pickServerFields(server), answered, ask, failed }
  })

type SftpRequests = Effect.Effect.Success<ReturnType<typeof makeSftpRequests>>

/** Maximum number of entries of a directory: a server could send endless ones. */
const mostEntries = 200_000
const emptyAnswer = 1_000
const tooMany = "it holds more than 200,000 entries, the most that are read of a directory"

const toRemoteKind = (stats: Stats): RemoteKind =>
  stats.isSymbolicLink() ? "link" : stats.isDirectory() ? "directory" : stats.isFile() ? "file" : "other"

type FileEntry = Pick<FileEntryWithStats, "filename" | "attrs">
const entryOf = ({ attrs, filename }: FileEntry): RemoteEntry => ({
  name: filename,
  kind: toRemoteKind(attrs),
  size: attrs.size
})

/** Next entries of an open directory; none at its end. */
const someEntries = ({ answered, failed, sftp }: SftpRequests, path: string, handle: Buffer) =>
  answered<Option.Option<ReadonlyArray<FileEntry>>, RemoteFileFailed>(
    path,
    "listing",
    (answer) =>
      sftp.readdir(handle, (error, entries) => {
        if (!error) return answer(Effect.succeed(Option.some(entries)))
        answer(readSftpCode(error) === statuses.end ? Effect.succeedNone : failed(path, error))
      })
  )

/** Entries of an open directory. */
const listOpen = (requests: SftpRequests, path: string, handle: Buffer) =>
  Stream.unfoldChunkEffect(0, (before) =>
    Effect.gen(function*() {
      const entries = yield* someEntries(requests, path, handle)
      if (Option.isNone(entries)) return Option.none()
      // An empty reply counts too: a server could send endless ones.
      const count = before + (entries.value.length || emptyAnswer)
      if (count > mostEntries) return yield* new RemoteFileFailed({ ...requests.place, path, reason: tooMany })
      return Option.some([Chunk.fromIterable(entries.value.map(entryOf)), count] as const)
    }))

/** Requests bytes at an offset; the callback receives their number, 0 at the end of the file. */
export type ReadAt = (
  bytes: Buffer,
  from: number,
  length: number,
  offset: number,
  answer: (error: Error | null | undefined, count: number) => void
) => void

/** The file ended before its expected size: it was truncated while it was read. */
export const endedEarly = new Error("it became shorter while it was read")

/** The next pieces, or the error instead of them; none at the end of the file. */
export type NextPieces = Either.Either<Chunk.Chunk<Uint8Array>, Option.Option<Error>>

interface Piece {
  readonly bytes: Buffer
  readonly offset: number
  have: number
  error?: Error
}
const piecesAtOnce = 64
/** Pieces per batch, which reduces the cost of emitting them. */
const piecesTogether = 8

/**
 * Reads `size` bytes with many concurrent requests, and returns the pieces in order. `next` completes when the next
 * pieces are available. After `stop` no more requests are sent.
 */
export const readAhead = (read: ReadAt, size: number) => {
  // A fiber per piece would cost several times as much as its transfer.
  const pieces: Array<Piece> = []
  let asked = 0
  let stopped = false
  let progress = () => {}

  const ask = (piece: Piece): void =>
    read(piece.bytes, piece.have, piece.bytes.length - piece.have, piece.offset + piece.have, (error, count) => {
      if (stopped) return
      piece.have += error ? 0 : count
      if (error) piece.error = error
      else if (count === 0) piece.error = endedEarly
      else if (piece.have < piece.bytes.length) return ask(piece)
      progress()
    })

  const fill = (): void => {
    while (pieces.length < piecesAtOnce && asked < size) {
      const piece: Piece = { bytes: Buffer.allocUnsafe(Math.min(pieceSize, size - asked)), offset: asked, have: 0 }
      asked += piece.bytes.length
      pieces.push(piece)
      ask(piece)
    }
  }

  const take = (): NextPieces | undefined => {
    fill()
    if (pieces.length === 0) return Either.left(Option.none())
    const open = pieces.findIndex((piece) => piece.error !== undefined || piece.have < piece.bytes.length)
    const ready = open < 0 ? pieces.length : open
    const error = pieces[open]?.error
    if (ready === 0 && error !== undefined) return Either.left(Option.some(error))
    if (error === undefined && ready < Math.min(piecesTogether, pieces.length)) return undefined
    const done = pieces.splice(0, ready)
    fill()
    return Either.right(Chunk.unsafeFromArray(done.map((piece) => piece.bytes)))
  }

  const next = (answer: (taken: NextPieces) => void): void => {
    progress = () => {
      const taken = take()
      if (taken === undefined) return
      progress = () => {}
      answer(taken)
    }
    progress()
  }

  const stop = (): void => {
    stopped = true
  }
  return { next, stop }
}

/** Bytes of one read or write. */
const pieceSize = 32 * 1024

const readAt = ({ sftp }: SftpRequests, handle: Buffer): ReadAt => (bytes, from, length, offset, answer) =>
  sftp.read(handle, bytes, from, length, offset, answer)

const tooLong = "it is announced without a size and does not end within 64 MiB, the most that is read of such a file"

// Reads until the end: virtual files, such as those of /proc, report a size of 0, and a server may omit the size.
const untilItEnds = (requests: SftpRequests, path: string, handle: Buffer) =>
  Stream.unfoldChunkEffect(0, (offset) => {
    const bytes = Buffer.allocUnsafe(pieceSize)
    return Effect.flatMap(
      requests.ask<number>(path, "reading", (answer) => readAt(requests, handle)(bytes, 0, pieceSize, offset, answer)),
      (count) =>
        count === 0
          ? Effect.succeedNone
          : offset + count > capacity.unannounced
          ? new RemoteFileFailed({ ...requests.place, path, reason: tooLong })
          : Effect.succeedSome([Chunk.of(bytes.subarray(0, count)), offset + count] as const)
    )
  })

const wholly = (requests: SftpRequests, path: string, handle: Buffer, size: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => readAhead(readAt(requests, handle), size)),
      ({ stop }) => Effect.sync(stop)
    ),
    ({ next }) =>
      Stream.unfoldChunkEffect(undefined, () =>
        requests.answered<NextPieces, never>(path, "reading", (answer) =>
          next((taken) =>
            answer(Effect.succeed(taken))
          )).pipe(
            Effect.flatMap(Either.match({
              onRight: (pieces) =>
                Effect.succeed(Option.some([pieces, undefined] as const)),
              onLeft: Option.match({
                onNone: () => Effect.succeed(Option.none()),
                onSome: (error) => requests.failed(path, error)
              })
            }))
          ))
  )

/** Bytes of an open file, in their order. */
const readOpen = (requests: SftpRequests, path: string, handle: Buffer) =>
  Effect.gen(function*() {
    const { size } = yield* requests.ask<Partial<Stats>>(
      path,
      "looking at",
      (answer) => requests.sftp.fstat(handle, answer)
    )
    return size === undefined || size === 0
      ? untilItEnds(requests, path, handle)
      : yield* wholly(requests, path, handle, size)
  })

const nameOf = (path: string): string => path.replace(/(?<!\/)\/+$/, "").split("/").at(-1) ?? ""

/** Makes paths absolute; requests the server's home directory only once. */
const resolvePaths = ({ ask, place, sftp }: SftpRequests) => {
  // Not `Effect.cached`, which would cache an interruption of the first caller for all others.
  let knownHome: string | undefined
  const home = Effect.suspend(() =>
    knownHome === undefined
      ? Effect.tap(ask<string>("~", "finding", (answer) => sftp.realpath(".", answer)), (found) => {
        knownHome = found
      })
      : Effect.succeed(knownHome)
  )
  return (path: string) => {
    if (/[\0]/.test(path)) return new RemoteFileFailed({ ...place, path, reason: "a path must not contain NUL" })
    return path === "~" || path.startsWith("~/")
      ? Effect.map(home, (home) => `${home === "/" ? "" : home}${path.slice(1)}` || "/")
      : Effect.succeed(path)
  }
}

const makeSession = (requests: SftpRequests): SftpSession => {
  const { ask, sftp } = requests
  const resolve = resolvePaths(requests)
  const handleOf = (path: string, open: (absolute: string, answer: SftpCallback<Buffer>) => void) =>
    Effect.acquireRelease(
      Effect.flatMap(resolve(path), (absolute) => ask<Buffer>(path, "opening", (answer) => open(absolute, answer))),
      (handle) => Effect.ignore(ask<void>(path, "closing", (answer) => sftp.close(handle, (error) => answer(error))))
    )
  const opened = (path: string, flags: "r" | "wx", mode: number) =>
    handleOf(path, (absolute, answer) => sftp.open(absolute, flags, mode, answer))
  return {
    stat: (path) =>
      Effect.gen(function*() {
        const absolute = yield* resolve(path)
        const stats = yield* ask<Stats>(path, "looking at", (answer) => sftp.lstat(absolute, answer))
        return { name: nameOf(absolute), kind: toRemoteKind(stats), size: stats.size }
      }),
    list: (path) =>
      handleOf(path, (absolute, answer) => sftp.opendir(absolute, answer)).pipe(
        Effect.map((handle) => listOpen(requests, path, handle)),
        Stream.unwrapScoped
      ),
    read: (path) =>
      opened(path, "r", 0).pipe(
        Effect.flatMap((handle) => readOpen(requests, path, handle)),
        Stream.unwrapScoped
      ),
    writePrivate: (path, content) =>
      Effect.scoped(Effect.gen(function*() {
        const handle = yield* opened(path, "wx", 0o600)
        const bytes = Buffer.from(content)
        for (let offset = 0; offset < bytes.length; offset += pieceSize) {
          const length = Math.min(pieceSize, bytes.length - offset)
          yield* ask<void>(path, "writing", (answer) =>
            sftp.write(handle, bytes, offset, length, offset, (error) =>
              answer(error)))
        }
      }))
  }
}

/** Transfers files over the pooled connections. */
export const SftpLive: Layer.Layer<Sftp, never, Connections> = Layer.effect(
  Sftp,
  Effect.map(Connections, (connections) =>
    Sftp.of({
      session: Effect.fn("Sftp.session")((server: ServerAccess): ReturnType<Sftp["Type"]["session"]> =>
        Effect.map(makeSftpRequests(server, connections), makeSession)
      )
    }))
)
