import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Cause, Deferred, Duration, Effect, Predicate, Redacted } from "effect"
import type { Scope } from "effect"
import { Socket } from "node:net"
import { Client, Pool, type PoolConfig, type QueryResult } from "pg"
import { instanceLocks } from "./pgDialect.ts"
import { channel, migratePg } from "./pgMigrations.ts"

/** What a process says of itself to the others. */
export interface PgProcess {
  readonly id: string
  readonly description: string
  /** How long after its last sign of life it may be taken for gone. */
  readonly takeOver: Duration.Duration
}

/** A connection to the database that proves that this process is there, and others for what it asks. */
export interface PgLink {
  readonly client: SqlClient.SqlClient
  /** Says that this process is there. */
  readonly renew: Effect.Effect<void, SqlError>
  /** Fails when the connection is gone. */
  readonly isLost: Deferred.Deferred<never, SqlError>
}

const connectMillis = 5_000
const migrationTimeout = Duration.minutes(2)
const mostConnections = 4
const idleMillis = 30_000

const failure = (cause: unknown) => new SqlError({ cause, message: "PostgreSQL" })

// A process that is cut off says nothing of it: PostgreSQL finds out within a few seconds, and lets go of what it held.
const preparation = `SET search_path TO berth;
SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;
SET tcp_user_timeout = 4000; SET idle_in_transaction_session_timeout = 10000`

/** What PostgreSQL said to a migration, however deep the migrator has put it. */
const reasonWithin = (error: unknown): unknown =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined ? reasonWithin(error.cause) : error

/** Where a PostgreSQL is, in words that tell no password: `PostgreSQL at db.example.com:5432/berth`. */
export const pgName = (url: Redacted.Redacted): string => {
  const { database, host, port } = new Client({ connectionString: Redacted.value(url) })
  return `PostgreSQL at ${host.startsWith("/") ? host : `${host}:${port}`}/${database ?? ""}`
}

/** Sockets that are closed with the scope, whatever waits on them. */
const makeSockets = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Set<Socket>()),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  ),
  (sockets) => () => {
    const socket = new Socket()
    sockets.add(socket)
    return socket.once("close", () => sockets.delete(socket))
  }
)

/** The tables, of the newest kind that this version knows; of processes that start at once, one makes them. */
const prepareTables = (
  query: (text: string) => Effect.Effect<QueryResult, SqlError>,
  client: SqlClient.SqlClient
) =>
  Effect.acquireUseRelease(
    query(`SELECT pg_advisory_lock(${instanceLocks}, 0)`),
    () =>
      Effect.gen(function*() {
        const { rowCount } = yield* query("SELECT 1 FROM pg_namespace WHERE nspname = 'berth'")
        if (rowCount === 0) yield* query("CREATE SCHEMA berth")
        yield* migratePg.pipe(
          Effect.provideService(SqlClient.SqlClient, client),
          // What fails in a migration is a defect to the migrator.
          Effect.catchAllCause((cause) => failure(reasonWithin(Cause.squash(cause))))
        )
      }),
    () => Effect.ignore(query(`SELECT pg_advisory_unlock(${instanceLocks}, 0)`))
  ).pipe(Effect.timeoutFail({ duration: migrationTimeout, onTimeout: () => failure("the tables are being changed") }))

/**
 * Connects a process to a database until the scope closes.
 * @param heard hears what other processes tell
 */
export const openPgLink = (
  url: Redacted.Redacted,
  { description, id, takeOver }: PgProcess,
  heard: (payload: string) => void
): Effect.Effect<PgLink, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const stream = yield* makeSockets
    const options: PoolConfig = {
      connectionString: Redacted.value(url),
      stream,
      connectionTimeoutMillis: connectMillis,
      keepAlive: true,
      keepAliveInitialDelayMillis: 1_000,
      application_name: `berth ${description}`.slice(0, 63)
    }
    const isLost = yield* Deferred.make<never, SqlError>()
    const lose = (cause: unknown) => void Deferred.unsafeDone(isLost, Effect.fail(failure(cause)))
    const session = new Client(options)
    session.on("error", lose).on("end", () => lose("the connection was closed"))
    session.on("notification", ({ payload }) => heard(payload ?? ""))
    const query = (text: string, values: ReadonlyArray<unknown> = []) =>
      Effect.tryPromise({ try: () => session.query(text, [...values]), catch: failure })
    yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => session.connect(), catch: failure }),
      () => Effect.ignore(Effect.timeout(Effect.interruptible(Effect.tryPromise(() => session.end())), "500 millis"))
    )
    yield* Effect.tryPromise({ try: () => session.query(preparation), catch: failure })

    const pool = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new Pool({
          ...options,
          max: mostConnections,
          idleTimeoutMillis: idleMillis,
          onConnect: async (client) => void await client.query(preparation)
        }).on("error", () => undefined)
      ),
      (pool) => Effect.ignore(Effect.timeout(Effect.interruptible(Effect.tryPromise(() => pool.end())), "500 millis"))
    )
    const client = yield* Effect.provide(PgClient.fromPool({ acquire: Effect.succeed(pool) }), Reactivity.layer)
    yield* prepareTables(query, client)

    // A number of its own for each connection: the lock of one that PostgreSQL has not missed yet is not in the way.
    const { rows: [row] } = yield* query(
      `SELECT number, pg_try_advisory_lock(${instanceLocks}, number) AS held
       FROM (SELECT nextval('instance_numbers')::integer AS number) AS next`
    )
    if (row?.held !== true) return yield* failure("the number of this process is in use")
    const lease = "clock_timestamp() + $3::float8 * interval '1 millisecond'"
    const millis = Duration.toMillis(takeOver)
    yield* query(
      `INSERT INTO instances (id, number, description, since, expires_at) VALUES ($1, $2, $4, clock_timestamp(), ${lease})
       ON CONFLICT (id) DO UPDATE
       SET number = excluded.number, since = excluded.since, expires_at = excluded.expires_at`,
      [id, row.number, millis, description]
    )
    yield* query(`LISTEN ${channel}`)
    return {
      client,
      isLost,
      renew: Effect.flatMap(
        query(`UPDATE instances SET expires_at = ${lease} WHERE id = $1 AND number = $2`, [id, row.number, millis]),
        ({ rowCount }) => rowCount === 1 ? Effect.void : failure("this process was forgotten")
      )
    }
  })
