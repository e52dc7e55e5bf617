import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect, Redacted, type Scope } from "effect"
import { Client, Pool } from "pg"
import type { RunChange } from "../../runs/RunOwnership.ts"
import { type PgProcess, takeLease } from "./pgLease.ts"
import { keepListening } from "./pgListen.ts"
import { prepareSchema } from "./pgSchema.ts"
import { closing, connectionOptions, openPgSession, prepareSession, sqlFailure } from "./pgSession.ts"

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
export const pgName = (url: Redacted.Redacted): string => {
  const { database, host, port } = new Client({ connectionString: Redacted.value(url) })
  return `PostgreSQL at ${host.startsWith("/") ? host : `${host}:${port}`}/${database ?? ""}`
}

/**
 * Connects a process to a database until the scope closes.
 * @param publish receives hints about what peers have changed
 */
export const openPgLink = (
  url: Redacted.Redacted,
  process: PgProcess,
  publish: (change: RunChange) => Effect.Effect<unknown>
): Effect.Effect<PgLink, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const options = yield* connectionOptions(url, process.description)
    const session = yield* openPgSession(options)
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new Pool({ ...options, max: mostConnections, idleTimeoutMillis: idleMillis, onConnect: prepareSession })
          .on("error", () => undefined)
      ),
      (pool) => closing(() => pool.end())
    )
    const client = yield* Effect.provide(PgClient.fromPool({ acquire: Effect.succeed(pool) }), Reactivity.layer)
    yield* prepareSchema(session, client)
    const renew = yield* takeLease(session, process)
    const { rows: [channel] } = yield* session.query("SELECT name FROM notify_channel")
    if (typeof channel?.name !== "string") return yield* sqlFailure("the channel is missing")
    yield* Effect.forkScoped(
      Effect.interruptible(keepListening(url, process.description, channel.name, publish))
    )
    return { client, renew, lost: session.lost }
  })
