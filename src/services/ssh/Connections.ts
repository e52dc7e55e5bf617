import {
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  ExecutionStrategy,
  Exit,
  FiberRef,
  Layer,
  Metric,
  Option,
  RcMap,
  Schedule,
  Scope
} from "effect"
import { createHmac, randomBytes } from "node:crypto"
import type { Client } from "ssh2"
import { ConnectionLost, type ServerAccess, ServerUnreachable, TooManyFollowers } from "../../schema/ssh.ts"
import { escapeText } from "../../schema/words.ts"
import { CurrentCaller } from "../access/Caller.ts"
import { computeFingerprint, HostKeys } from "../HostKeys.ts"
import { capacity, type ConcurrencyLimit, type ConcurrencyLimiter, makeConcurrencyLimiter } from "../limits.ts"
import { openConnections } from "../metrics.ts"
import { Steps } from "../runs/Steps.ts"
import { type TellFirstContact, withUserKnownHosts } from "../sshClient/knownHosts.ts"
import { connectServer, type JumpConnection, toJumpFailure } from "./connect.ts"
import { type ConnectError, isOver, pickServerFields, requireConnected, reveal, type SshConnection } from "./logIn.ts"
import type { CommandPool } from "./Ssh.ts"

/** Index of the work connection that an effect uses; 0 is the first, which everything else shares. */
const connectionIndex = FiberRef.unsafeMake(0)

/** Has an effect use a connection for work of its own, where the index is not 0. */
export const withConnection = (index: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(effect, connectionIndex, index)

/** Distance between the indexes of the connections that one effect uses at a narrow server. */
const narrowStep = 1000

const minute = Duration.toMillis("1 minute")

/** Time for which a refused session counts as the limit of its server. */
const narrowMillis = 10 * minute

/** A pool of connections to a server, or the connection of a jump host, which all servers behind it share. */
type PoolName = CommandPool | "jumps"

interface PoolLimits {
  readonly channels: number
  /** Places of callers that stay, which are refused beyond: they may use several connections. Absent without a limit. */
  readonly places?: ConcurrencyLimit
  /** Time after which an unused connection closes. */
  readonly idleMillis: number
}

/**
 * Channels of each connection of a pool. sshd runs at most 10 sessions on a connection and frees one late. Work waits for
 * its turn; followers and commands are refused, because their wait would have no bound.
 */
const connectionPools: Readonly<Record<PoolName, PoolLimits>> = {
  work: { channels: 4, idleMillis: 5 * minute },
  followers: { channels: 8, places: capacity.followers, idleMillis: 5 * minute },
  commands: { channels: 8, places: capacity.followers, idleMillis: 5 * minute },
  jumps: { channels: 1, idleMillis: minute }
}

/**
 * Warm connections, one a server for each pool: that of work is shared by commands and file transfer. Deploys that overlap
 * have others for work, since each holds a channel for its lock while it needs more.
 */
export class Connections extends Context.Tag("berth/Connections")<Connections, {
  /**
   * Connection to the server; opens a new one if there is none or the last one broke. In use until the scope closes.
   */
  readonly get: (server: ServerAccess, pool: CommandPool) => Effect.Effect<SshConnection, ConnectError, Scope.Scope>
  /** Notes that the server allows fewer sessions on a connection than the pool uses: for a while each use has its own. */
  readonly noteFull: (server: ServerAccess, pool: CommandPool) => Effect.Effect<void>
  /** Takes a place of the current caller in a limited pool until the scope closes; to be taken before `get`. */
  readonly takePlace: (server: ServerAccess, pool: CommandPool) => Effect.Effect<void, TooManyFollowers, Scope.Scope>
}>() {}

/** Key of a connection. Each is unique, so that the end of one cannot invalidate the next. */
interface Key {
  readonly server: ServerAccess
  readonly pool: PoolName
  readonly identity: string
  readonly channels: number
  /** Current users of the connection, and the time of its last use. */
  users: number
  leftAt: number
}

/** Counts the caller as a user of a key until the scope closes; the key is chosen and counted in one step. */
const using = (choose: () => Key): Effect.Effect<Key, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const key = choose()
      key.users += 1
      return key
    }),
    (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        key.users -= 1
        key.leftAt = now
      })
  )

/** Completes when the connection has been unused for the idle time of its lane. */
const idle = (key: Key): Effect.Effect<void> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const { idleMillis } = connectionPools[key.pool]
    const left = key.users > 0 ? idleMillis : key.leftAt + idleMillis - now
    if (left > 0) yield* Effect.zipRight(Effect.sleep(left), idle(key))
  })

// Stored servers with the same address and log-in share a connection; another password requires another one. The key
// contains the secrets as a keyed digest that others cannot compute.
const identifying = (pepper: Uint8Array) => (server: ServerAccess, pool: PoolName, index: number): string =>
  createHmac("sha256", pepper).update(JSON.stringify([pool, index, ...logInOf(server)])).digest("hex")

const logInOf = ({ credentials, host, hostKey, port, username, via }: ServerAccess): ReadonlyArray<unknown> => [
  host.toLowerCase(),
  port,
  username,
  hostKey ?? null,
  reveal(credentials.password) ?? null,
  credentials.privateKey ?? reveal(credentials.keyText) ?? null,
  reveal(credentials.passphrase) ?? null,
  credentials.agent === true,
  via === undefined ? null : logInOf(via)
]

/**
 * Tells once that a key is trusted at first sight: as output of the run that connects, else as a warning, which commands
 * print and a service logs.
 */
const tellFirstContact = (file: string): TellFirstContact => ({ host, port }, { blob, type }) =>
  Effect.gen(function*() {
    const words =
      `First contact with ${host}:${port}: its host key ${type} ${computeFingerprint(blob)} is remembered in ` +
      `${file}, and nobody has compared it: see what ssh-keygen -lf prints on the server`
    const steps = yield* Effect.serviceOption(Steps)
    yield* Option.isSome(steps) && steps.value.run !== "-"
      ? steps.value.output("stderr", `${escapeText(words)}\n`)
      : Effect.logWarning(words)
  })

/** Connections over ssh2. They close when they break, when they were idle for as long as their pool says, and with the layer. */
export const ConnectionsLive: Layer.Layer<Connections, never, HostKeys> = Layer.scoped(
  Connections,
  Effect.gen(function*() {
    const identify = identifying(randomBytes(32))
    const storedKeys = yield* HostKeys
    const hostKeys = withUserKnownHosts(storedKeys, tellFirstContact(storedKeys.file))
    const current = new Map<string, Key>()
    const keyOf = (server: ServerAccess, pool: PoolName, index: number, channels: number): Key => {
      const identity = identify(server, pool, index)
      const key = current.get(identity) ?? { server, pool, identity, channels, users: 0, leftAt: 0 }
      current.set(identity, key)
      return key
    }
    const forget = (key: Key): void => {
      if (current.get(key.identity) === key) current.delete(key.identity)
    }

    const connections: RcMap.RcMap<Key, SshConnection, ConnectError> = yield* RcMap.make({
      // The map provides the services, and a scope for each connection: in the layer's scope a connection would stay
      // open until the layer closes.
      lookup: (key: Key) =>
        Effect.gen(function*() {
          const { channels, server } = key
          const jump = server.via === undefined ? undefined : yield* sharedJump(server, server.via)
          const connection = yield* connectServer(server, channels, jump).pipe(
            Effect.provideService(HostKeys, hostKeys)
          )
          yield* Effect.acquireRelease(
            Metric.incrementBy(openConnections, 1),
            () => Metric.incrementBy(openConnections, -1)
          )
          const broken = Effect.ignore(Deferred.await(connection.lost))
          yield* Effect.raceAll([broken, Deferred.await(connection.spent), idle(key)]).pipe(
            Effect.zipRight(retire(key)),
            // Wakes callers that wait for a channel, so that they use the next connection.
            Effect.zipRight(connection.slots.release(channels)),
            Effect.forkScoped
          )
          yield* Effect.addFinalizer(() => Effect.sync(() => forget(key)))
          return connection
        }).pipe(
          Effect.interruptible,
          // A failure is not cached, even if no caller waits for it any more.
          Effect.onError(() => retire(key))
        ),
      // The idle timer of the map would keep a broken connection that was idle before, until it expires.
      idleTimeToLive: Duration.infinity
    })

    const retire = (key: Key): Effect.Effect<void> =>
      Effect.suspend(() => {
        forget(key)
        return RcMap.invalidate(connections, key)
      })

    const sharedJump = (server: ServerAccess, via: ServerAccess) =>
      Effect.mapBoth(get(via, "jumps"), {
        onFailure: toJumpFailure(server, via),
        onSuccess: (connection): JumpConnection => ({ name: via.name, connection })
      })

    // Servers that allow fewer sessions on a connection than a pool uses, and until when that is believed: sshd frees
    // the session of a channel late, so that a refusal may be by chance.
    const narrow = new Map<string, number>()
    const noteFull = (server: ServerAccess, pool: PoolName) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        narrow.set(identify(server, pool, 0), now + narrowMillis)
      })
    const isNarrow = (server: ServerAccess, pool: PoolName, now: number) =>
      (narrow.get(identify(server, pool, 0)) ?? 0) > now

    /** Key of the first connection of a limited pool that has a free channel. */
    const keyWithRoom = (server: ServerAccess, pool: PoolName, channels: number, index = 0): Key => {
      const key = keyOf(server, pool, index, channels)
      return key.users < Math.min(channels, key.channels)
        ? key
        : keyWithRoom(server, pool, channels, index + 1)
    }
    /** Key of an unused connection for work at a narrow server, or of the last one, where callers wait for their turn. */
    const keyAlone = (server: ServerAccess, index: number, connection = 0): Key => {
      const key = keyOf(server, "work", index + connection * narrowStep, 1)
      return key.users === 0 || connection + 1 === connectionPools.work.channels
        ? key
        : keyAlone(server, index, connection + 1)
    }
    const chooseKey = (server: ServerAccess, pool: PoolName, index: number, now: number): Key => {
      const { channels, places } = connectionPools[pool]
      const isAlone = isNarrow(server, pool, now)
      if (pool === "work") {
        const key = keyOf(server, pool, index, isAlone ? 1 : channels)
        // A connection with a single channel stays one: who holds that channel, as a deploy for its lock, would wait for it.
        return isAlone || key.channels < channels ? keyAlone(server, index) : key
      }
      return places === undefined
        ? keyOf(server, pool, 0, channels)
        : keyWithRoom(server, pool, isAlone ? 1 : channels)
    }

    const get = (server: ServerAccess, pool: PoolName): Effect.Effect<SshConnection, ConnectError, Scope.Scope> =>
      Effect.gen(function*() {
        const index = pool === "work" ? yield* FiberRef.get(connectionIndex) : 0
        const now = yield* Clock.currentTimeMillis
        const key = yield* using(() => chooseKey(server, pool, index, now))
        const connection = yield* RcMap.get(connections, key)
        return (yield* isOver(connection)) ? yield* Effect.zipRight(retire(key), get(server, pool)) : connection
      })

    const limiters = new Map<string, ConcurrencyLimiter>()
    const takePlace = (server: ServerAccess, pool: CommandPool) =>
      Effect.gen(function*() {
        const { places } = connectionPools[pool]
        if (places === undefined) return
        const identity = identify(server, pool, 0)
        const limiter = limiters.get(identity) ?? makeConcurrencyLimiter(places)
        limiters.set(identity, limiter)
        const { name } = yield* CurrentCaller
        const what = pool === "commands" ? "commands" : "logs"
        yield* Effect.acquireRelease(
          Effect.mapError(limiter.take(name), (reached) =>
            new TooManyFollowers({ server: server.name, what, ...reached })),
          (release) =>
            Effect.zipRight(release, Effect.sync(() => limiter.taken() === 0 && limiters.delete(identity)))
        )
      })
    return Connections.of({ get, noteFull, takePlace })
  })
)

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

/** Gives the scope of an effect what it acquires only if it succeeds: another attempt begins with nothing in use. */
const attempt = <A, E, R>(effect: Effect.Effect<A, E, R | Scope.Scope>): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const own = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
      return yield* Effect.onError(
        restore(Scope.extend(effect, own)),
        (cause) => Scope.close(own, Exit.failCause(cause))
      )
    })
  )

/**
 * Opens a channel on a server's connection; it closes with the scope. The few channels are assigned first come, first
 * served. While the server has no free session on the connection, takes another one, or retries for half a minute;
 * replaces a connection that ended before a request was sent.
 */
export const openChannel = <Channel extends Closable>(
  connections: Context.Tag.Service<Connections>,
  server: ServerAccess,
  kind: ChannelKind<Channel>,
  pool: CommandPool = "work"
): Effect.Effect<OpenChannel<Channel>, ConnectError | ConnectionLost | TooManyFollowers, Scope.Scope> =>
  attempt(
    Effect.flatMap(connections.get(server, pool), (connection) => openOnce(server, connection, kind))
  ).pipe(
    Effect.tapError((failure) =>
      failure._tag === "Refused" && failure.full ? connections.noteFull(server, pool) : Effect.void
    ),
    Effect.retry({ while: (failure) => failure._tag === "Refused" && failure.full, schedule: whenFull }),
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
