import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Clock, Duration, Effect, Redacted, Ref, Schedule, type Scope } from "effect"
import { randomInt } from "node:crypto"
import { Client, Pool } from "pg"
import type { RunChange } from "../../runs/store.ts"
import {
  buildConnectionOptions,
  closeConnection,
  makeSqlFailure,
  openPgSession,
  type PgSession,
  prepareSession
} from "./connection.ts"
import { prepareSchema } from "./migrations.ts"
import { keepListening } from "./notifications.ts"

/** First half of the advisory lock of a process; its number in `instances` is the second. */
export const instanceLocks = 1_112_887_380

const numbers = 2 ** 31 - 1

/** A process as its peers see it. */
export interface PgProcess {
  readonly id: string
  readonly description: string
  /** Time within which a peer takes over the runs of a lost process. */
  readonly takeOver: Duration.Duration
}

// Peers check for expired leases once a second; the remaining time is for taking a run over.
const margin = Duration.seconds(2)

/**
 * Takes the lease of a process and returns the effect that renews it. The session should serve nothing else, since that
 * would delay the renewal.
 * The number is random for each connection: roles without access to `instances` cannot take its lock in advance, and a
 * lost connection that PostgreSQL has not noticed yet does not block it.
 */
const acquireLease = (
  { query }: PgSession,
  { description, id, takeOver }: PgProcess
): Effect.Effect<Effect.Effect<void, SqlError>, SqlError> =>
  Effect.gen(function*() {
    const number = yield* Effect.sync(() => randomInt(numbers))
    const { rows: [lock] } = yield* query(`SELECT pg_try_advisory_lock(${instanceLocks}, $1) AS held`, [number])
    if (lock?.held !== true) return yield* makeSqlFailure("the number of this process is in use")
    const expiry = "clock_timestamp() + $3::float8 * interval '1 millisecond'"
    const millis = Duration.toMillis(Duration.subtract(takeOver, margin))
    yield* query(
      `INSERT INTO instances (id, number, description, since, expires_at) VALUES ($1, $2, $4, clock_timestamp(), ${expiry})
       ON CONFLICT (id) DO UPDATE
       SET number = excluded.number, since = excluded.since, expires_at = excluded.expires_at`,
      [id, number, millis, description]
    )
    return Effect.flatMap(
      query(`UPDATE instances SET expires_at = ${expiry} WHERE id = $1 AND number = $2`, [id, number, millis]),
      ({ rowCount }) => rowCount === 1 ? Effect.void : makeSqlFailure("this process was forgotten")
    )
  })

/** The connections of a process to the database: one for its lease, one that listens, and a pool for queries. */
interface PgLink {
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

/** Monotonic clock that includes suspend. */
const stopwatch = Effect.map(Clock.currentTimeMillis, (wall) => {
  const steady = performance.now()
  return Effect.map(Clock.currentTimeMillis, (now) => Math.max(now - wall, performance.now() - steady))
})

/**
 * Heartbeat of a process over its connections to the database, one after the other.
 * @param lost executed once a lease was not renewed for a third of `takeOver`, long before it expires
 */
export const makeHeartbeat = (takeOver: Duration.Duration, lost: Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const millis = Duration.toMillis(takeOver)
    const sinceRenewed = yield* Ref.make(yield* stopwatch)
    const isHeld = yield* Ref.make(false)

    /** Renews the lease. */
    const renew = (renewal: Effect.Effect<void, SqlError>) =>
      Effect.gen(function*() {
        const since = yield* stopwatch
        yield* Effect.timeoutFail(renewal, {
          duration: Duration.millis(millis / 5),
          onTimeout: () => new SqlError({ cause: { code: "ETIMEDOUT" }, message: "no answer" })
        })
        yield* Ref.set(sinceRenewed, since)
        yield* Ref.set(isHeld, true)
      })

    /** Renews the lease again and again, until that fails. */
    const beat = (renewal: Effect.Effect<void, SqlError>) =>
      Effect.forever(Effect.delay(renew(renewal), Duration.millis(millis / 10)))

    const check = Effect.gen(function*() {
      const elapsed = yield* Effect.flatten(Ref.get(sinceRenewed))
      if (elapsed > millis / 3 && (yield* Ref.getAndSet(isHeld, false))) yield* lost
    })
    const watch = Effect.repeat(check, Schedule.spaced(Duration.millis(millis / 30)))
    return { renew, beat, watch }
  })
