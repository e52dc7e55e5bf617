import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Data, Duration, Effect } from "effect"
import type { Stream } from "effect"
import { RunStoreUnavailable } from "../../../schema/Run.ts"
import { keyTime, type RunChange } from "../../runs/RunStore.ts"
import type { Dialect } from "../sqlRunStore.ts"
import { instanceLocks } from "./pgLease.ts"
import { pgCode, pgReasonOf } from "./pgReason.ts"

interface Order {
  readonly id: string
  readonly attempt: number
  readonly cancelled: boolean
  readonly own: boolean
}

class KeyUsed extends Data.TaggedError("KeyUsed")<{}> {}

const uniqueViolation = "23505"

/** What is special about runs that several processes share: each row has an owner, of which there may be no more. */
export const pgDialect = (
  name: string,
  owner: string,
  sql: SqlClient.SqlClient,
  changes: Stream.Stream<RunChange>
): Dialect => {
  const orUnavailable = <A>(effect: Effect.Effect<A, SqlError>) =>
    Effect.mapError(effect, (error) => new RunStoreUnavailable({ store: name, reason: pgReasonOf(error) }))
  const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)
  // Who holds a run may be found out while somebody takes it: the row is locked until the write is done.
  const whileHeld: Dialect["whileHeld"] = ({ attempt, id }) =>
    sql`id = ${id} AND owner = ${owner} AND attempt = ${attempt} FOR SHARE`

  return {
    name,
    reasonOf: pgReasonOf,
    isShared: Effect.succeed(true),
    changes,
    release: orUnavailable(Effect.asVoid(sql`DELETE FROM instances WHERE id = ${owner}`)),
    insert: (row) => {
      const insert = sql`INSERT INTO runs ${sql.insert({ ...row, owner })}`
      const key = row["idempotency_key"] ?? null
      if (key === null) return Effect.as(insert, true)
      const at = Number(row["requested_at"])
      const since = at - Duration.toMillis(keyTime)
      return Effect.gen(function*() {
        const own = yield* sql`INSERT INTO run_keys ${
          sql.insert({ key, run_id: row["id"] ?? "", requested_at: at })
        } ON CONFLICT (key) DO UPDATE SET run_id = excluded.run_id, requested_at = excluded.requested_at
          WHERE run_keys.requested_at < ${since} RETURNING key`
        if (own.length === 0) return yield* new KeyUsed()
        yield* insert
        return true
      }).pipe(sql.withTransaction, Effect.catchTag("KeyUsed", () => Effect.succeed(false)))
    },
    isHeld: ({ attempt, id }) => sql`id = ${id} AND owner = ${owner} AND attempt = ${attempt}`,
    whileHeld,
    // When the database was away all processes are late: each has a moment to take up its own runs.
    isLeft: sql`(owner = ${owner} OR (
      EXISTS (SELECT 1 FROM instances WHERE id = ${owner} AND since < clock_timestamp() - interval '2 seconds')
      AND NOT EXISTS (
        SELECT 1 FROM instances WHERE instances.id = runs.owner AND expires_at > clock_timestamp()
      )
    ))`,
    // The lease of a process that is cut off or frozen has expired, but only PostgreSQL knows whether it is connected.
    // Every role sees the numbers in pg_locks: a lock that another role holds does not count.
    take: ({ attempt, id }) =>
      sql`UPDATE runs SET owner = ${owner}, attempt = attempt + 1
        WHERE id = ${id} AND attempt = ${attempt} AND state IN ('queued', 'running') AND (owner = ${owner}
          OR NOT EXISTS (
            SELECT 1 FROM instances WHERE instances.id = runs.owner AND (
              expires_at > clock_timestamp() OR EXISTS (
                SELECT 1 FROM pg_locks JOIN pg_stat_activity AS session USING (pid)
                WHERE locktype = 'advisory' AND granted AND usename = current_user
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                  AND classid = ${sql.literal(String(instanceLocks))} AND objid = number::oid AND objsubid = 2
              )
            )
          )) RETURNING id`,
    // One that runs already was let begin by an answer that did not arrive. A run begins when none of its queue runs and none that came before it waits. Of two processes that find that at the
    // same time, the index lets one have it.
    claim: (waiting) =>
      sql<{ readonly id: string }>`UPDATE runs SET state = 'running'
        WHERE ${sql.in("id", waiting)} AND owner = ${owner} AND NOT cancelled AND (
          state = 'running' OR (state = 'queued' AND NOT EXISTS (
            SELECT 1 FROM runs AS other WHERE other.queue = runs.queue AND other.id <> runs.id
              AND (other.state = 'running' OR (other.state = 'queued' AND other.position < runs.position))
          ))
        ) RETURNING id`.pipe(
        Effect.map(ids),
        Effect.catchIf((error) => pgCode(error) === uniqueViolation, () => Effect.succeed([])),
        orUnavailable
      ),
    askToCancel: (id) =>
      orUnavailable(Effect.asVoid(
        sql`UPDATE runs SET cancelled = TRUE WHERE id = ${id} AND state IN ('queued', 'running')`
      )),
    ordersFor: (holds) =>
      orUnavailable(Effect.map(
        sql<Order>`SELECT id, attempt, cancelled, owner = ${owner} AS own FROM runs
          WHERE ${sql.in("id", holds.map(({ id }) => id))}`,
        (rows) => {
          const attempts = new Map(holds.map(({ attempt, id }) => [id, attempt]))
          return {
            cancelled: ids(rows.filter(({ cancelled }) => cancelled)),
            taken: ids(rows.filter(({ attempt, id, own }) => !own || attempts.get(id) !== attempt))
          }
        }
      )),
    insertEvents: (hold, events) =>
      sql`INSERT INTO run_events (run_id, id, event, data)
        SELECT held.id, event.id, event.event, event.data FROM (SELECT id FROM runs WHERE ${whileHeld(hold)}) AS held,
          json_to_recordset(${JSON.stringify(events)}::json) AS event (id float8, event text, data text)
        ON CONFLICT (run_id, id) DO UPDATE SET data = excluded.data RETURNING run_id`,
    order: { runs: sql`position`, steps: sql`position` },
    check: orUnavailable(Effect.gen(function*() {
      yield* sql`UPDATE instances SET description = description WHERE id = ${owner}`
      const [size] = yield* sql<{ readonly bytes: number }>`
        SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes
        FROM unnest(ARRAY['runs', 'run_steps', 'run_events', 'run_keys', 'instances']) AS name`
      return { store: name, bytes: size?.bytes ?? 0 }
    }))
  }
}
