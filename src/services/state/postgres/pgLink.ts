import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Duration, Effect, Redacted, type Scope } from "effect"
import { Client, escapeIdentifier, Pool } from "pg"
import type { RunChange } from "../../runs/RunOwnership.ts"
import { makeHints } from "./pgHints.ts"
import { acquireLease, type PgProcess } from "./pgLease.ts"
import { prepareSchema } from "./pgSchema.ts"
import { buildConnectionOptions, closeConnection, makeSqlFailure, openPgSession, prepareSession } from "./pgSession.ts"

const reconnectPause = Duration.seconds(1)
const floodPause = Duration.seconds(30)

const flooding =
  "Too many notifications arrive from PostgreSQL. This service stops listening for 30 seconds and looks " +
  "for changes once a second. Runs go on. Check which roles may connect to the database: REVOKE CONNECT … FROM PUBLIC"

/**
 * Listens to peers on a connection of its own until it is interrupted. Losing that connection is harmless: changes by
 * peers are also found by polling once a second.
 * @param publish receives a hint to check the tables
 */
const keepListening = (
  url: Redacted.Redacted,
  description: string,
  channel: string,
  publish: (change: RunChange) => Effect.Effect<unknown>
): Effect.Effect<never> => {
  const listen = Effect.gen(function*() {
    const hints = yield* makeHints(publish)
    const session = yield* openPgSession(yield* buildConnectionOptions(url, description), hints.receive)
    yield* session.query(`LISTEN ${escapeIdentifier(channel)}`)
    yield* Effect.raceFirst(hints.flooded, session.lost)
    yield* Effect.logWarning(flooding)
    return floodPause
  }).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => reconnectPause)
  )
  return Effect.forever(Effect.flatMap(listen, Effect.sleep))
}

/** The connections of a process to the database: one for its lease, one that listens, and a pool for queries. */
export interface PgLink {
  readonly client: SqlClient.SqlClient
  /** Renews the lease. */
  readonly renew: Effect.Effect<void, SqlError>
  /** Fails when the connection of the lease is lost. */
  readonly lost: Effect.Effect<never, SqlError>
}

const mostConnections = 4
const idleMillis = 30_000

/** Name of a PostgreSQL without its password: `PostgreSQL at db.example.com:5432/berth`. */
export const formatPgName = (url: Redacted.Redacted): string => {
  const { database, host, port } = new Client({ connectionString: Redacted.value(url) })
  return `PostgreSQL at ${host.startsWith("/") ? host : `${host}:${port}`}/${database ?? ""}`
}

/**
 * Connects a process to a database until the scope closes.
 * @param publish receives hints about changes by peers
 */
export const openPgLink = (
  url: Redacted.Redacted,
  process: PgProcess,
  publish: (change: RunChange) => Effect.Effect<unknown>
): Effect.Effect<PgLink, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const options = yield* buildConnectionOptions(url, process.description)
    const session = yield* openPgSession(options)
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new Pool({ ...options, max: mostConnections, idleTimeoutMillis: idleMillis, onConnect: prepareSession })
          .on("error", () => undefined)
      ),
      (pool) => closeConnection(() => pool.end())
    )
    const client = yield* Effect.provide(PgClient.fromPool({ acquire: Effect.succeed(pool) }), Reactivity.layer)
    yield* prepareSchema(session, client)
    const renew = yield* acquireLease(session, process)
    const { rows: [channel] } = yield* session.query("SELECT name FROM notify_channel")
    if (typeof channel?.name !== "string") return yield* makeSqlFailure("the channel is missing")
    yield* Effect.forkScoped(
      Effect.interruptible(keepListening(url, process.description, channel.name, publish))
    )
    return { client, renew, lost: session.lost }
  })
