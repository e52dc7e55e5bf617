import { Chunk, Deferred, Effect, Either, Layer, Option, Schedule, Stream } from "effect"
import type { FileEntryWithStats, SFTPWrapper, Stats } from "ssh2"
import type { ServerAccess } from "../../schema/Server.ts"
import { ConnectionLost, RemoteFileFailed, RemoteTimeout } from "../../schema/Ssh.ts"
import { openChannel } from "./channels.ts"
import type { ChannelKind } from "./channels.ts"
import { stillConnected, where } from "./connection.ts"
import { Connections } from "./Connections.ts"
import { readAhead } from "./readAhead.ts"
import type { ReadAt, Taken } from "./readAhead.ts"
import { Sftp } from "./Sftp.ts"
import type { RemoteEntry, RemoteKind, SftpSession } from "./Sftp.ts"

const pieceSize = 32 * 1024
/** How many entries of a directory are read; a server could list without end. */
const mostEntries = 200_000
const emptyAnswer = 1_000
const tooMany = "it holds more than 200,000 entries, the most that are read of a directory"
/** One answer of the server; a hanging network disk must not hang Berth. */
const answerSeconds = 60
const tick = "5 seconds"
const answerTicks = answerSeconds / 5

/** Statuses of SFTP version 3 (draft-ietf-secsh-filexfer-02, section 7). */
const statuses = { end: 1, noSuchFile: 2, permissionDenied: 3, unsupported: 8 }

const transfer: ChannelKind<SFTPWrapper> = {
  start: (client, done) => {
    client.sftp(done)
  },
  stop: () => false,
  close: (session) => session.end()
}

const codeOf = (error: Error): unknown => "code" in error ? error.code : undefined

const inWords = (error: Error): string => {
  const code = codeOf(error)
  if (code === statuses.noSuchFile) return "no such file or directory"
  if (code === statuses.permissionDenied) return "permission denied"
  if (code === statuses.unsupported) return "the server's SFTP cannot do that"
  return error.message === "Failure" ? "the server reports a failure without a reason" : error.message
}

const kindOf = (stats: Stats): RemoteKind =>
  stats.isSymbolicLink() ? "link" : stats.isDirectory() ? "directory" : stats.isFile() ? "file" : "other"

type FileEntry = Pick<FileEntryWithStats, "filename" | "attrs">
const entryOf = ({ attrs, filename }: FileEntry): RemoteEntry => ({
  name: filename,
  kind: kindOf(attrs),
  size: attrs.size
})

const nameOf = (path: string): string => path.replace(/(?<!\/)\/+$/, "").split("/").at(-1) ?? ""

/** A request that the server has not answered yet. */
interface Pending {
  ticks: number
  readonly late: () => RemoteTimeout
  readonly fail: (reason: ConnectionLost | RemoteTimeout) => void
}

type Answer<A> = (error: Error | null | undefined, value: A) => void

const sessionOn = (server: ServerAccess, connections: typeof Connections.Service) =>
  Effect.gen(function*() {
    const { channel: sftp, closed, connection } = yield* openChannel(connections, server, transfer)
    const pending = new Set<Pending>()
    const ended = new ConnectionLost({ ...where(server), reason: "the server ended the file transfer" })
    let over: ConnectionLost | undefined
    yield* Deferred.await(closed).pipe(
      Effect.zipRight(stillConnected(server, connection)),
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

    // All requests are watched together: a race and a timer for each would cost more than carrying its bytes.
    const answered = <A, E>(
      path: string,
      what: string,
      start: (answer: (outcome: Effect.Effect<A, E>) => void) => void
    ) =>
      Effect.async<A, E | ConnectionLost | RemoteTimeout>((resume) => {
        if (over !== undefined) return resume(over)
        const late = () => new RemoteTimeout({ ...where(server), what: `${what} ${path}`, seconds: answerSeconds })
        const request: Pending = { ticks: 0, late, fail: resume }
        pending.add(request)
        start((outcome) => {
          pending.delete(request)
          resume(outcome)
        })
        return Effect.sync(() => pending.delete(request))
      })

    const failed = (path: string, error: Error) =>
      new RemoteFileFailed({ ...where(server), path, reason: inWords(error) })

    const ask = <A>(path: string, what: string, request: (answer: Answer<A>) => void) =>
      answered<A, RemoteFileFailed>(path, what, (answer) =>
        request((error, value) =>
          answer(error ? failed(path, error) : Effect.succeed(value))
        ))

    // Not `Effect.cached`: an interruption of the first who asks would be kept for all others.
    let knownHome: string | undefined
    const home = Effect.suspend(() =>
      knownHome === undefined
        ? Effect.tap(ask<string>("~", "finding", (answer) => sftp.realpath(".", answer)), (found) => {
          knownHome = found
        })
        : Effect.succeed(knownHome)
    )
    const resolve = (path: string) => {
      if (/[\0]/.test(path)) {
        return new RemoteFileFailed({ ...where(server), path, reason: "a path must not contain NUL" })
      }
      return path === "~" || path.startsWith("~/")
        ? Effect.map(home, (home) => `${home === "/" ? "" : home}${path.slice(1)}` || "/")
        : Effect.succeed(path)
    }

    const handleOf = (path: string, open: (absolute: string, answer: Answer<Buffer>) => void) =>
      Effect.acquireRelease(
        Effect.flatMap(resolve(path), (absolute) => ask<Buffer>(path, "opening", (answer) => open(absolute, answer))),
        (handle) => Effect.ignore(ask<void>(path, "closing", (answer) => sftp.close(handle, (error) => answer(error))))
      )
    const opened = (path: string, flags: "r" | "wx", mode: number) =>
      handleOf(path, (absolute, answer) => sftp.open(absolute, flags, mode, answer))

    /** Some entries of an open directory; nothing at its end. */
    const someEntries = (path: string, handle: Buffer) =>
      answered<Option.Option<ReadonlyArray<FileEntry>>, RemoteFileFailed>(path, "listing", (answer) =>
        sftp.readdir(handle, (error, entries) => {
          if (!error) {
            return answer(Effect.succeed(Option.some(entries)))
          }
          answer(codeOf(error) === statuses.end ? Effect.succeedNone : failed(path, error))
        }))

    const readAt = (handle: Buffer): ReadAt => (bytes, from, length, offset, answer) =>
      sftp.read(handle, bytes, from, length, offset, answer)

    // What the kernel makes up, /proc for one, has a size of 0; and a server may leave the size out.
    const untilItEnds = (path: string, handle: Buffer) =>
      Stream.unfoldChunkEffect(0, (offset) => {
        const bytes = Buffer.allocUnsafe(pieceSize)
        return Effect.map(
          ask<number>(path, "reading", (answer) =>
            readAt(handle)(bytes, 0, pieceSize, offset, answer)),
          (count) =>
            count === 0 ? Option.none() : Option.some([Chunk.of(bytes.subarray(0, count)), offset + count])
        )
      })

    const wholly = (path: string, handle: Buffer, size: number) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() =>
            readAhead(readAt(handle), size)
          ),
          ({ stop }) => Effect.sync(stop)
        ),
        ({ next }) =>
          Stream.unfoldChunkEffect(undefined, () =>
            answered<Taken, never>(path, "reading", (answer) =>
              next((taken) => answer(Effect.succeed(taken)))).pipe(
                Effect.flatMap(Either.match({
                  onRight: (pieces) => Effect.succeed(Option.some([pieces, undefined] as const)),
                  onLeft: Option.match({
                    onNone: () => Effect.succeed(Option.none()),
                    onSome: (error) => failed(path, error)
                  })
                }))
              ))
      )

    const read: SftpSession["read"] = (path) =>
      Stream.unwrapScoped(Effect.gen(function*() {
        const handle = yield* opened(path, "r", 0)
        const { size } = yield* ask<Partial<Stats>>(path, "looking at", (answer) => sftp.fstat(handle, answer))
        return size === undefined || size === 0 ? untilItEnds(path, handle) : yield* wholly(path, handle, size)
      }))

    return {
      stat: (path) =>
        Effect.gen(function*() {
          const absolute = yield* resolve(path)
          const stats = yield* ask<Stats>(path, "looking at", (answer) => sftp.lstat(absolute, answer))
          return { name: nameOf(absolute), kind: kindOf(stats), size: stats.size }
        }),
      list: (path) =>
        handleOf(path, (absolute, answer) => sftp.opendir(absolute, answer)).pipe(
          Effect.map((handle) =>
            Stream.unfoldChunkEffect(0, (before) =>
              Effect.gen(function*() {
                const entries = yield* someEntries(path, handle)
                if (Option.isNone(entries)) return Option.none()
                // An empty answer counts like a long one: a server could give those without end.
                const count = before + (entries.value.length || emptyAnswer)
                if (count > mostEntries) return yield* new RemoteFileFailed({ ...where(server), path, reason: tooMany })
                return Option.some([Chunk.fromIterable(entries.value.map(entryOf)), count] as const)
              }))
          ),
          Stream.unwrapScoped
        ),
      read,
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
    } satisfies SftpSession
  })

/** File transfer over the warm connections. */
export const SftpLive: Layer.Layer<Sftp, never, Connections> = Layer.effect(
  Sftp,
  Effect.map(Connections, (connections) =>
    Sftp.of({
      session: Effect.fn("Sftp.session")((server: ServerAccess): ReturnType<Sftp["Type"]["session"]> =>
        sessionOn(server, connections)
      )
    }))
)
