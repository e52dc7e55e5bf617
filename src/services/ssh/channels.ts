import { type Context, Deferred, type Duration, Effect, Option, Schedule, type Scope } from "effect"
import type { Client } from "ssh2"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { ConnectionLost, ServerUnreachable, type TooManyFollowers } from "../../schema/servers/Ssh.ts"
import {
  type ConnectError,
  isOver,
  pickServerFields,
  requireConnected,
  type SshConnection
} from "./connection/liveConnection.ts"
import type { Connections } from "./Connections.ts"
import type { CommandPool } from "./RemoteCommand.ts"

/** Common part of the channels of commands and file transfer. */
interface Closable {
  readonly on: (event: string, listener: (...values: ReadonlyArray<unknown>) => void) => unknown
}

/** Opens and aborts one kind of channel on a client. */
export interface ChannelKind<Channel extends Closable> {
  readonly start: (client: Client, done: (error: Error | undefined, channel: Channel) => void) => void
  /** Asks the other side to end; returns true if the request could be sent. */
  readonly stop: (channel: Channel) => boolean
  readonly close: (channel: Channel) => void
}

/** An open channel. `closed` is its exit code once the server has closed it; null when it has none. */
export interface OpenChannel<Channel> {
  readonly connection: SshConnection
  readonly channel: Channel
  readonly closed: Deferred.Deferred<number | null>
}

/** The server refused a channel. `full`: it has reached its maximum number of sessions. */
interface Refused {
  readonly _tag: "Refused"
  readonly reason: string
  readonly full: boolean
}

/** The connection ended before a request was sent to the server. */
interface Moved {
  readonly _tag: "Moved"
}

const moved: Moved = { _tag: "Moved" }

// sshd keeps the session of a closed channel until its program has ended. A program that runs longer would occupy the
// slot indefinitely: its connection then accepts no new work, and the next caller opens another one.
const closingTime = "10 seconds"
// Grace period for cleanup: once its output is closed, a command cannot report errors.
const stoppingTime = "2 seconds"
const openingTime = "30 seconds"

const whenFull = Schedule.exponential("20 millis", 1.5).pipe(
  Schedule.union(Schedule.spaced("250 millis")),
  Schedule.jittered,
  Schedule.upTo("30 seconds")
)

const refusalOf = (error: Error): Refused => ({
  _tag: "Refused",
  reason: error.message.replace(/^\(SSH\) /, ""),
  full: "reason" in error && error.reason === 2
})

const openOnce = <Channel extends Closable>(
  server: ServerAccess,
  connection: SshConnection,
  kind: ChannelKind<Channel>
): Effect.Effect<OpenChannel<Channel>, Refused | Moved | ConnectionLost, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      yield* restore(connection.slots.take(1))
      // Callers that wait for a slot are released when the connection ends: they have not sent anything to the server.
      if (yield* isOver(connection)) return yield* Effect.zipRight(connection.slots.release(1), Effect.fail(moved))
      const opened = yield* Deferred.make<Channel, Refused>()
      const closed = yield* Deferred.make<number | null>()
      let wanted = true
      let open: Channel | undefined
      const forget = connection.onLost(() => {
        Deferred.unsafeDone(opened, Effect.fail(refusalOf(new Error("the connection broke"))))
        Deferred.unsafeDone(closed, Effect.succeed(null))
      })
      // Releases the slot when the server has closed the channel, which may be long after its user has left.
      yield* Deferred.await(closed).pipe(
        Effect.zipRight(Effect.sync(forget)),
        Effect.ensuring(connection.slots.release(1)),
        Effect.interruptible,
        Effect.forkIn(connection.scope)
      )
      const within = (time: Duration.DurationInput) =>
        Deferred.await(closed).pipe(Effect.interruptible, Effect.timeoutOption(time), Effect.map(Option.isSome))
      yield* Effect.addFinalizer(() =>
        Effect.gen(function*() {
          wanted = false
          if (yield* Deferred.isDone(closed)) return
          if (open !== undefined) {
            if (kind.stop(open) && (yield* within(stoppingTime))) return
            kind.close(open)
          }
          yield* within(closingTime).pipe(
            Effect.flatMap((over) => over ? Effect.void : Deferred.succeed(connection.spent, undefined)),
            Effect.interruptible,
            Effect.forkIn(connection.scope)
          )
        })
      )
      yield* Effect.try({
        try: () =>
          kind.start(connection.client, (error, channel) => {
            if (error !== undefined) {
              Deferred.unsafeDone(opened, Effect.fail(refusalOf(error)))
              return Deferred.unsafeDone(closed, Effect.succeed(null))
            }
            open = channel
            channel.on(
              "close",
              (code) => Deferred.unsafeDone(closed, Effect.succeed(typeof code === "number" ? code : null))
            )
            channel.on("error", () => undefined)
            if (!wanted) kind.close(channel)
            Deferred.unsafeDone(opened, Effect.succeed(channel))
          }),
        catch: (cause) => cause instanceof Error ? cause.message : String(cause)
      }).pipe(
        // The client rejects calls on a closed socket before it reports the close.
        Effect.tapError((reason) => Deferred.fail(connection.lost, reason)),
        Effect.mapError(() => moved)
      )
      const channel = yield* Deferred.await(opened).pipe(
        Effect.interruptible,
        Effect.timeoutFail({
          duration: openingTime,
          onTimeout: (): Refused => ({
            _tag: "Refused",
            reason: `it did not open a session within ${openingTime}`,
            full: false
          })
        }),
        Effect.tapError(() => requireConnected(server, connection)),
        restore
      )
      return { channel, closed, connection }
    })
  )

/**
 * Opens a channel on a server's connection; it closes with the scope. The few channels are assigned first come, first
 * served. Retries for half a minute while the server has no free session, and replaces a connection that ended before a
 * request was sent.
 */
export const openChannel = <Channel extends Closable>(
  connections: Context.Tag.Service<Connections>,
  server: ServerAccess,
  kind: ChannelKind<Channel>,
  pool: CommandPool = "work"
): Effect.Effect<OpenChannel<Channel>, ConnectError | ConnectionLost | TooManyFollowers, Scope.Scope> =>
  connections.get(server, pool).pipe(
    Effect.flatMap((connection) =>
      openOnce(server, connection, kind).pipe(
        Effect.retry({ while: (failure) => failure._tag === "Refused" && failure.full, schedule: whenFull })
      )
    ),
    Effect.retry({ while: (failure) => failure._tag === "Moved", times: 3 }),
    (opening) => Effect.zipRight(connections.takePlace(server, pool), opening),
    Effect.catchTags({
      Moved: () => new ConnectionLost({ ...pickServerFields(server), reason: "new connections break at once" }),
      Refused: ({ full, reason }) =>
        new ServerUnreachable({
          ...pickServerFields(server),
          reason: full ? `it allows no further session on the connection (${reason})` : reason
        })
    })
  )
