import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Array, Effect, Option } from "effect"
import type { RunFence } from "../../runs/RunFence.ts"
import type { RunOwnership } from "../../runs/RunOwnership.ts"
import { executeFencedWrite, orUnavailable, type RunDialect } from "./RunDialect.ts"
import { decodeQueueHeads, decodeStepResults, decodeStoredRuns } from "./runRows.ts"

/** Rules of ownership in one database. */
interface OwnershipRules {
  /** Condition for unfinished runs without a living owner. */
  readonly isUnowned: Fragment
  /** Increments the attempt of a run, and returns its row if the takeover is allowed. */
  readonly takeOver: (fence: RunFence) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
}

/** Part of ownership that all databases share: takeover, queues and the results of steps. */
export const sqlRunOwnership = (
  dialect: RunDialect,
  { isUnowned, takeOver }: OwnershipRules
): Pick<RunOwnership["Type"], "unowned" | "takeOver" | "heads" | "stepResults" | "beginStep" | "completeStep"> => {
  const { sql } = dialect
  const available = orUnavailable(dialect)
  const fenced = executeFencedWrite(dialect)
  return {
    unowned: (except) =>
      available(Effect.map(
        sql`SELECT data, state, request, workflow, queue, attempt FROM runs
          WHERE state IN ('queued', 'running') AND NOT ${except.length === 0 ? sql`1 = 0` : sql.in("id", except)}
            AND ${isUnowned} ORDER BY ${dialect.order}`,
        decodeStoredRuns
      )),
    takeOver: (fence) =>
      available(Effect.map(takeOver(fence), (rows) => Option.as(Array.head(rows), fence.attempt + 1))),
    heads: (queues) =>
      queues.length === 0 ? Effect.succeed(new Map()) : available(Effect.map(
        sql`SELECT queue, data, state FROM runs WHERE ${dialect.order} IN (
          SELECT min(${dialect.order}) FROM runs
            WHERE state IN ('queued', 'running') AND ${sql.in("queue", queues)} GROUP BY queue
        )`,
        decodeQueueHeads
      )),
    stepResults: (id) =>
      available(Effect.map(
        sql`SELECT step, result FROM run_steps WHERE run_id = ${id} ORDER BY ${dialect.order}`,
        decodeStepResults
      )),
    beginStep: (fence, step) =>
      fenced(
        fence.id,
        sql`INSERT INTO run_steps (run_id, step) SELECT id, ${step} FROM runs WHERE ${dialect.whileOwned(fence)}
          ON CONFLICT (run_id, step) DO UPDATE SET step = excluded.step RETURNING step`
      ),
    completeStep: (fence, step, result) =>
      fenced(
        fence.id,
        sql`UPDATE run_steps SET result = ${JSON.stringify(result ?? {})}
          WHERE run_id IN (SELECT id FROM runs WHERE ${dialect.whileOwned(fence)}) AND step = ${step} RETURNING step`
      )
  }
}
