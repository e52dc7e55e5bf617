import { Deferred, Effect, Schedule } from "effect"
import type { SFTPWrapper } from "ssh2"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { ConnectionLost, RemoteFileFailed, RemoteTimeout } from "../../schema/servers/Ssh.ts"
import { type ChannelKind, openChannel } from "./channels.ts"
import { pickServerFields, requireConnected } from "./connection/liveConnection.ts"
import type { Connections } from "./Connections.ts"

/** Timeout of a single reply: a hanging network disk must not hang Berth. */
const answerSeconds = 60
const tick = "5 seconds"
const answerTicks = answerSeconds / 5

/** Statuses of SFTP version 3 (draft-ietf-secsh-filexfer-02, section 7). */
export const statuses = { end: 1, noSuchFile: 2, permissionDenied: 3, unsupported: 8 }

export const readSftpCode = (error: Error): unknown => "code" in error ? error.code : undefined

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

export type SftpCallback<A> = (error: Error | null | undefined, value: A) => void

/** Requests of one session. They fail together with it, or individually when the server does not reply in time. */
export const makeSftpRequests = (server: ServerAccess, connections: typeof Connections.Service) =>
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

export type SftpRequests = Effect.Effect.Success<ReturnType<typeof makeSftpRequests>>
