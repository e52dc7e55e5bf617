import type * as SqlClient from "@effect/sql/SqlClient"
import { Data, Duration, Effect } from "effect"
import { idempotencyPeriod } from "../../runs/idempotency.ts"
import type { RunDialect } from "../sql/RunDialect.ts"
import { describePgError } from "./pgReason.ts"

class KeyUsed extends Data.TaggedError("KeyUsed")<{}> {}

/** Dialect of PostgreSQL: each row of `runs` has an owner, which a fenced write checks with the fencing token. */
export const makePgDialect = (name: string, owner: string, sql: SqlClient.SqlClient): RunDialect => {
  const isOwned: RunDialect["isOwned"] = ({ attempt, id }) =>
    sql`id = ${id} AND owner = ${owner} AND attempt = ${attempt}`
  // Locks the row until the write is complete, so that no takeover occurs between the check and the write.
  const whileOwned: RunDialect["whileOwned"] = (fence) => sql`${isOwned(fence)} FOR SHARE`

  return {
    sql,
    name,
    reasonOf: describePgError,
    insert: (row) => {
      const insert = sql`INSERT INTO runs ${sql.insert({ ...row, owner })}`
      const key = row["idempotency_key"] ?? null
      if (key === null) return Effect.as(insert, true)
      const at = Number(row["requested_at"])
      const since = at - Duration.toMillis(idempotencyPeriod)
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
    isOwned,
    whileOwned,
    insertEvents: (fence, events) =>
      sql`INSERT INTO run_events (run_id, id, event, data)
        SELECT owned.id, event.id, event.event, event.data FROM (SELECT id FROM runs WHERE ${
        whileOwned(fence)
      }) AS owned,
          json_to_recordset(${JSON.stringify(events)}::json) AS event (id float8, event text, data text)
        ON CONFLICT (run_id, id) DO UPDATE SET data = excluded.data RETURNING run_id`,
    order: sql`position`,
    now: Effect.succeed(sql`(extract(epoch FROM clock_timestamp()) * 1000)::float8`),
    skipClaimed: sql`FOR UPDATE SKIP LOCKED`,
    size: Effect.gen(function*() {
      yield* sql`UPDATE instances SET description = description WHERE id = ${owner}`
      const [size] = yield* sql<{ readonly bytes: number }>`
        SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes
        FROM unnest(ARRAY['runs', 'run_steps', 'run_events', 'run_keys', 'instances', 'notices']) AS name`
      return size?.bytes ?? 0
    })
  }
}
