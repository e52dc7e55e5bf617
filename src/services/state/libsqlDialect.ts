import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Stream } from "effect"
import { RunStoreUnavailable } from "../../schema/Run.ts"
import { reasonOf } from "./sqlReason.ts"
import type { Dialect } from "./sqlRunStore.ts"

/**
 * What is special about runs in a file. It belongs to one process: that holds every run, lets them begin in the order of
 * its own locks, and nobody else changes any.
 */
export const libsqlDialect = (file: string, sql: SqlClient.SqlClient): Dialect => ({
  name: file,
  reasonOf,
  isShared: Effect.succeed(false),
  release: Effect.void,
  changes: Stream.empty,
  claim: Effect.succeed,
  askToCancel: () => Effect.void,
  ordersFor: () => Effect.succeed({ cancelled: [], taken: [] }),
  // Writes a number that nothing reads into the head of the file.
  check: Effect.gen(function*() {
    yield* sql`PRAGMA user_version = 0`
    const [size] = yield* sql<{ readonly bytes: number }>`
      SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`
    return { store: file, bytes: size?.bytes ?? 0 }
  }).pipe(Effect.mapError((error) => new RunStoreUnavailable({ store: file, reason: reasonOf(error) }))),
  insert: (row) => Effect.as(sql`INSERT INTO runs ${sql.insert(row)}`, true),
  isHeld: ({ attempt, id }) => sql`id = ${id} AND attempt = ${attempt}`,
  whileHeld: ({ attempt, id }) => sql`id = ${id} AND attempt = ${attempt}`,
  isLeft: sql`1 = 1`,
  take: ({ attempt, id }) =>
    sql`UPDATE runs SET attempt = attempt + 1
      WHERE id = ${id} AND attempt = ${attempt} AND state IN ('queued', 'running') RETURNING id`,
  insertEvents: ({ attempt, id }, events) =>
    sql.withTransaction(Effect.flatMap(
      sql`SELECT id FROM runs WHERE id = ${id} AND attempt = ${attempt}`,
      (held) =>
        held.length === 0 ? Effect.succeed([]) : Effect.as(
          sql`INSERT INTO run_events ${sql.insert(events.map((event) => ({ run_id: id, ...event })))}`,
          held
        )
    )),
  order: { runs: sql`rowid`, steps: sql`rowid` }
})
