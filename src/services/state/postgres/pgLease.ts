import type { SqlError } from "@effect/sql/SqlError"
import { Duration, Effect } from "effect"
import { randomInt } from "node:crypto"
import { makeSqlFailure, type PgSession } from "./pgSession.ts"

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
export const acquireLease = (
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
