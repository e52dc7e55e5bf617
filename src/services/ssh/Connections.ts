import { Clock, Context, Deferred, Duration, Effect, FiberRef, Layer, RcMap } from "effect"
import type { Scope } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import type { ServerAccess } from "../../schema/Server.ts"
import { TooManyFollowers } from "../../schema/Ssh.ts"
import { connect, isOver } from "./connection.ts"
import type { ConnectError, Connection } from "./connection.ts"
import type { HostKeys } from "./HostKeys.ts"
import { reveal } from "./logIn.ts"
import type { Lane } from "./RemoteCommand.ts"
import { workPlace } from "./workPlace.ts"

const idleMillis = Duration.toMillis("5 minutes")

/**
 * How many channels each lane's connection has, and how many may use it. sshd runs at most 10 sessions on a connection and
 * frees one late. Work waits for its turn; a follower would wait for nobody knows how long.
 */
const lanes: Readonly<Record<Lane, { readonly channels: number; readonly mostUsers: number }>> = {
  work: { channels: 4, mostUsers: Number.POSITIVE_INFINITY },
  followers: { channels: 8, mostUsers: 8 }
}

/**
 * Warm connections, one a server for each lane: that of work is shared by commands and file transfer. Deploys that overlap
 * have others for work, since each holds a channel for its lock while it needs more.
 */
export class Connections extends Context.Tag("berth/Connections")<Connections, {
  /** The server's connection; a new one when there is none, or the last one broke. It is in use until the scope closes. */
  readonly get: (
    server: ServerAccess,
    lane: Lane
  ) => Effect.Effect<Connection, ConnectError | TooManyFollowers, Scope.Scope>
}>() {}

/** Which connection this is. Each is met by its own key, so that the end of one cannot take the next with it. */
interface Key {
  readonly server: ServerAccess
  readonly lane: Lane
  readonly identity: string
  /** How many use the connection now, and when the last of them left. */
  users: number
  leftAt: number
}

/** Counts the caller in until the scope closes. */
const using = (key: Key): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => void key.users++),
    () =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        key.users -= 1
        key.leftAt = now
      })
  )

/** Completes when nobody has used the connection for so long. */
const idle = (key: Key): Effect.Effect<void> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const left = key.users > 0 ? idleMillis : key.leftAt + idleMillis - now
    if (left > 0) yield* Effect.zipRight(Effect.sleep(left), idle(key))
  })

// Two stored servers with the same address and log-in share a connection; another password makes another one. The
// secrets go in as a digest that nobody else can compute.
const identifying = (pepper: Uint8Array) =>
(
  { credentials, host, port, username }: ServerAccess,
  lane: Lane,
  place: number
): string =>
  createHmac("sha256", pepper).update(JSON.stringify([
    lane,
    place,
    host.toLowerCase(),
    port,
    username,
    reveal(credentials.password) ?? null,
    credentials.privateKey ?? null,
    reveal(credentials.passphrase) ?? null,
    credentials.agent === true
  ])).digest("hex")

/** Connections over ssh2. They close when they break, after five idle minutes, and with the layer. */
export const ConnectionsLive: Layer.Layer<Connections, never, HostKeys> = Layer.scoped(
  Connections,
  Effect.gen(function*() {
    const identify = identifying(randomBytes(32))
    const current = new Map<string, Key>()
    const keyOf = (server: ServerAccess, lane: Lane, place: number): Key => {
      const identity = identify(server, lane, place)
      const key = current.get(identity) ?? { server, lane, identity, users: 0, leftAt: 0 }
      current.set(identity, key)
      return key
    }
    const forget = (key: Key): void => {
      if (current.get(key.identity) === key) current.delete(key.identity)
    }

    const connections: RcMap.RcMap<Key, Connection, ConnectError> = yield* RcMap.make({
      // The map provides the services, and the scope of the one connection: with the layer's scope none would close.
      lookup: (key: Key) =>
        Effect.gen(function*() {
          const connection = yield* connect(key.server, lanes[key.lane].channels)
          const broken = Effect.ignore(Deferred.await(connection.lost))
          yield* Effect.raceAll([broken, Deferred.await(connection.spent), idle(key)]).pipe(
            Effect.zipRight(retire(key)),
            // Those who wait for a channel look again, and go to the next connection.
            Effect.zipRight(connection.slots.release(lanes[key.lane].channels)),
            Effect.forkScoped
          )
          yield* Effect.addFinalizer(() => Effect.sync(() => forget(key)))
          return connection
        }).pipe(
          Effect.interruptible,
          // A failure is not kept, not even where nobody waits for it any more.
          Effect.onError(() => retire(key))
        ),
      // Its own clock would hold on to a broken connection that was idle before, until that time has passed.
      idleTimeToLive: Duration.infinity
    })

    const retire = (key: Key): Effect.Effect<void> =>
      Effect.suspend(() => {
        forget(key)
        return RcMap.invalidate(connections, key)
      })

    const get = (
      server: ServerAccess,
      lane: Lane
    ): Effect.Effect<Connection, ConnectError | TooManyFollowers, Scope.Scope> =>
      Effect.gen(function*() {
        const key = keyOf(server, lane, lane === "work" ? yield* FiberRef.get(workPlace) : 0)
        const { mostUsers } = lanes[lane]
        if (key.users >= mostUsers) return yield* new TooManyFollowers({ server: server.name, most: mostUsers })
        yield* using(key)
        const connection = yield* RcMap.get(connections, key)
        return (yield* isOver(connection)) ? yield* Effect.zipRight(retire(key), get(server, lane)) : connection
      })
    return Connections.of({ get })
  })
)
