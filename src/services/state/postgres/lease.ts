import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Clock, Deferred, Duration, Effect, Queue, Redacted, Ref, Schedule, type Scope } from "effect"
import { randomInt } from "node:crypto"
import { Client, escapeIdentifier, Pool } from "pg"
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

const hintPattern = /^(state|cancel|data) (\w{1,64})$/
const flushPause = Duration.millis(25)
const mostPending = 256
/** Maximum number of notifications per second; more are not caused by runs. */
export const mostNotifications = 10_000

/** Converts the notifications of one connection to hints. */
interface Hints {
  readonly receive: (payload: string) => void
  /** Completes when there are so many notifications that polling once a second is cheaper than receiving them. */
  readonly flooded: Effect.Effect<void>
}

/**
 * Converts notifications to hints to check the tables. Only the run to check is taken from a notification; malformed
 * ones are ignored. Notifications of the same kind and run within 25 ms are merged, and more than 256 become `any`.
 */
export const makeHints = (
  publish: (change: RunChange) => Effect.Effect<unknown>
): Effect.Effect<Hints, never, Scope.Scope> =>
  Effect.gen(function*() {
    const pending = new Map<string, RunChange>()
    const wake = yield* Queue.sliding<void>(1)
    const flooded = yield* Deferred.make<void>()
    let received = 0

    const flush = Effect.suspend(() => {
      const changes: ReadonlyArray<RunChange> = pending.size < mostPending ? [...pending.values()] : [{ what: "any" }]
      pending.clear()
      return Effect.forEach(changes, publish, { discard: true })
    })
    const flushing = Effect.forever(Effect.all([Queue.take(wake), flush, Effect.sleep(flushPause)], { discard: true }))
    const counting = Effect.repeat(
      Effect.sync(() => {
        received = 0
      }),
      Schedule.spaced("1 second")
    )
    yield* Effect.forEach([flushing, counting], (loop) => Effect.forkScoped(Effect.interruptible(loop)))

    return {
      receive: (payload) => {
        received += 1
        if (received > mostNotifications) Deferred.unsafeDone(flooded, Effect.void)
        const [, what, id] = hintPattern.exec(payload) ?? []
        if (id === undefined || pending.size >= mostPending) return
        if (what !== "state" && what !== "cancel" && what !== "data") return
        pending.set(payload, { what, id })
        wake.unsafeOffer(undefined)
      },
      flooded: Deferred.await(flooded)
    }
  })

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
