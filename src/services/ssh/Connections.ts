import {
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  FiberRef,
  identity,
  Layer,
  Metric,
  RcMap,
  type Scope
} from "effect"
import { createHmac, randomBytes } from "node:crypto"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { TooManyFollowers } from "../../schema/servers/Ssh.ts"
import { CurrentCaller } from "../access/Caller.ts"
import { HostKeys } from "../hostKeys/HostKeys.ts"
import { type ConcurrencyLimiter, makeConcurrencyLimiter } from "../limits/concurrencyLimiter.ts"
import { openConnections } from "../metrics/metrics.ts"
import { withUserKnownHosts } from "../sshClient/userKnownKeys.ts"
import { connectServer } from "./connection/connection.ts"
import { type ConnectError, isOver, type SshConnection } from "./connection/liveConnection.ts"
import { reveal } from "./connection/logIn.ts"
import { type JumpConnection, toJumpFailure } from "./connection/throughJump.ts"
import { connectionIndex } from "./connectionIndex.ts"
import { connectionPools, type PoolName } from "./connectionPools.ts"
import type { CommandPool } from "./RemoteCommand.ts"

/**
 * Warm connections, one a server for each pool: that of work is shared by commands and file transfer. Deploys that overlap
 * have others for work, since each holds a channel for its lock while it needs more.
 */
export class Connections extends Context.Tag("berth/Connections")<Connections, {
  /**
   * Connection to the server; opens a new one if there is none or the last one broke. In use until the scope closes.
   */
  readonly get: (server: ServerAccess, pool: CommandPool) => Effect.Effect<SshConnection, ConnectError, Scope.Scope>
  /** Takes a place of the current caller in a limited pool until the scope closes; to be taken before `get`. */
  readonly takePlace: (server: ServerAccess, pool: CommandPool) => Effect.Effect<void, TooManyFollowers, Scope.Scope>
}>() {}

/** Key of a connection. Each is unique, so that the end of one cannot invalidate the next. */
interface Key {
  readonly server: ServerAccess
  readonly pool: PoolName
  readonly identity: string
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

const logInOf = ({ credentials, host, port, username, via }: ServerAccess): ReadonlyArray<unknown> => [
  host.toLowerCase(),
  port,
  username,
  reveal(credentials.password) ?? null,
  credentials.privateKey ?? null,
  reveal(credentials.passphrase) ?? null,
  credentials.agent === true,
  via === undefined ? null : logInOf(via)
]

/** Connections over ssh2. They close when they break, when they were idle for as long as their pool says, and with the layer. */
export const ConnectionsLive: Layer.Layer<Connections, never, HostKeys> = Layer.scoped(
  Connections,
  Effect.gen(function*() {
    const identify = identifying(randomBytes(32))
    const jumpHostKeys = withUserKnownHosts(yield* HostKeys)
    const current = new Map<string, Key>()
    const keyOf = (server: ServerAccess, pool: PoolName, index: number): Key => {
      const identity = identify(server, pool, index)
      const key = current.get(identity) ?? { server, pool, identity, users: 0, leftAt: 0 }
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
          const { pool, server } = key
          const jump = server.via === undefined ? undefined : yield* sharedJump(server, server.via)
          const connection = yield* connectServer(server, connectionPools[pool].channels, jump).pipe(
            pool === "jumps" ? Effect.provideService(HostKeys, jumpHostKeys) : identity
          )
          yield* Effect.acquireRelease(
            Metric.incrementBy(openConnections, 1),
            () => Metric.incrementBy(openConnections, -1)
          )
          const broken = Effect.ignore(Deferred.await(connection.lost))
          yield* Effect.raceAll([broken, Deferred.await(connection.spent), idle(key)]).pipe(
            Effect.zipRight(retire(key)),
            // Wakes callers that wait for a channel, so that they use the next connection.
            Effect.zipRight(connection.slots.release(connectionPools[key.pool].channels)),
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

    /** Key of the first connection of a limited pool that has a free channel. */
    const keyWithRoom = (server: ServerAccess, pool: PoolName, index = 0): Key => {
      const key = keyOf(server, pool, index)
      return key.users < connectionPools[pool].channels ? key : keyWithRoom(server, pool, index + 1)
    }

    const get = (server: ServerAccess, pool: PoolName): Effect.Effect<SshConnection, ConnectError, Scope.Scope> =>
      Effect.gen(function*() {
        const index = pool === "work" ? yield* FiberRef.get(connectionIndex) : 0
        const isLimited = connectionPools[pool].places !== undefined
        const key = yield* using(() => isLimited ? keyWithRoom(server, pool) : keyOf(server, pool, index))
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
    return Connections.of({ get, takePlace })
  })
)
