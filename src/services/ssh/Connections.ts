import type { FileSystem } from "@effect/platform"
import { Context, Deferred, Effect, Equal, Hash, Layer, RcMap, Redacted } from "effect"
import type { Scope } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import { createRequire } from "node:module"
import type { ServerAccess } from "../../schema/Server.ts"
import { channelsAtOnce, connect, isOver } from "./connection.ts"
import type { ConnectError, Connection } from "./connection.ts"
import type { HostKeys } from "./HostKeys.ts"

const idleTime = "5 minutes"

/** One warm connection a server, shared by commands and file transfer. */
export class Connections extends Context.Tag("berth/Connections")<Connections, {
  /** The server's connection; a new one when there is none, or the last one broke. It is in use until the scope closes. */
  readonly get: (
    server: ServerAccess
  ) => Effect.Effect<Connection, ConnectError, Scope.Scope>
}>() {}

/** Which connection this is: everything it depends on as a digest, and how many like it came before. */
class Key implements Equal.Equal {
  readonly server: ServerAccess
  readonly identity: string
  readonly generation: number
  constructor(server: ServerAccess, identity: string, generation: number) {
    this.server = server
    this.identity = identity
    this.generation = generation
  }
  [Equal.symbol](that: Equal.Equal): boolean {
    return that instanceof Key && that.identity === this.identity && that.generation === this.generation
  }
  [Hash.symbol](): number {
    return Hash.string(`${this.identity} ${this.generation}`)
  }
}

const reveal = (secret: Redacted.Redacted | undefined) => secret === undefined ? null : Redacted.value(secret)

// Two stored servers with the same address and log-in share a connection; another password makes another one. The
// secrets go in as a digest that nobody else can compute.
const identifying = (pepper: Uint8Array) => ({ credentials, host, port, username }: ServerAccess): string =>
  createHmac("sha256", pepper).update(JSON.stringify([
    host.toLowerCase(),
    port,
    username,
    reveal(credentials.password),
    credentials.privateKey ?? null,
    reveal(credentials.passphrase),
    credentials.agent === true
  ])).digest("hex")

/** ssh2 encrypts in JavaScript where its native part was not built; says so in the log. */
export const warnWithoutNative = (load: (module: string) => unknown): Effect.Effect<void> =>
  Effect.try(() => load("ssh2/lib/protocol/crypto/build/Release/sshcrypto.node")).pipe(
    Effect.asVoid,
    Effect.catchAll(() =>
      Effect.logWarning(
        "ssh2 runs without its native crypto: transfers take half as long again. Reinstall with its install script allowed"
      )
    )
  )

/** Connections over ssh2. They close after five idle minutes and with the layer. */
export const ConnectionsLive: Layer.Layer<Connections, never, FileSystem.FileSystem | HostKeys> = Layer.scoped(
  Connections,
  Effect.gen(function*() {
    const outside = yield* Effect.context<FileSystem.FileSystem | HostKeys>()
    const identify = identifying(randomBytes(32))
    const generations = new Map<string, number>()
    yield* warnWithoutNative(createRequire(import.meta.url))

    const connections: RcMap.RcMap<Key, Connection, ConnectError> = yield* RcMap.make({
      lookup: (key: Key) =>
        Effect.gen(function*() {
          const connection = yield* connect(key.server)
          yield* Effect.raceFirst(Deferred.await(connection.lost), Deferred.await(connection.spent)).pipe(
            Effect.exit,
            Effect.zipRight(retire(key)),
            // Those who wait for a channel look again, and go to the next connection.
            Effect.zipRight(connection.slots.release(channelsAtOnce)),
            Effect.forkScoped
          )
          return connection
        }).pipe(Effect.provide(outside), Effect.interruptible),
      idleTimeToLive: idleTime
    })

    // A key is never used again, so that the end of an old connection cannot take a new one with it.
    const retire = (key: Key): Effect.Effect<void> =>
      Effect.suspend(() => {
        const current = generations.get(key.identity) ?? 0
        generations.set(key.identity, Math.max(current, key.generation + 1))
        return RcMap.invalidate(connections, key)
      })

    const get = (server: ServerAccess): Effect.Effect<Connection, ConnectError, Scope.Scope> =>
      Effect.gen(function*() {
        const identity = identify(server)
        const key = new Key(server, identity, generations.get(identity) ?? 0)
        const connection = yield* Effect.tapError(RcMap.get(connections, key), () => retire(key))
        return (yield* isOver(connection)) ? yield* Effect.zipRight(retire(key), get(server)) : connection
      })
    return Connections.of({ get })
  })
)
