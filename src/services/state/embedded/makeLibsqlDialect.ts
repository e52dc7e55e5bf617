import type * as SqlClient from "@effect/sql/SqlClient"
import { Clock, Effect } from "effect"
import type { RunFence } from "../../runs/RunFence.ts"
import type { RunDialect } from "../sql/RunDialect.ts"
import { sqlReason } from "./sqlReason.ts"

/** Dialect of an embedded database, whose file belongs to one process: only the fencing token is checked. */
export const makeLibsqlDialect = (file: string, sql: SqlClient.SqlClient): RunDialect => {
  const isOwned = ({ attempt, id }: RunFence) => sql`id = ${id} AND attempt = ${attempt}`
  return {
    sql,
    name: file,
    reasonOf: sqlReason,
    insert: (row) => Effect.as(sql`INSERT INTO runs ${sql.insert(row)}`, true),
    isOwned,
    whileOwned: isOwned,
    insertEvents: (fence, events) =>
      sql.withTransaction(Effect.flatMap(
        sql`SELECT id FROM runs WHERE ${isOwned(fence)}`,
        (owned) =>
          owned.length === 0 ? Effect.succeed([]) : Effect.as(
            sql`INSERT INTO run_events ${sql.insert(events.map((event) => ({ run_id: fence.id, ...event })))}`,
            owned
          )
      )),
    order: sql`rowid`,
    now: Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`),
    skipClaimed: sql``,
    // Writes `user_version` in the file header, which is not used.
    size: Effect.gen(function*() {
      yield* sql`PRAGMA user_version = 0`
      const [size] = yield* sql<{ readonly bytes: number }>`
        SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`
      return size?.bytes ?? 0
    })
  }
}
