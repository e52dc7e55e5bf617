import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import type { RunEvent } from "../../../schema/runs/Run.ts"
import { RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import { type RunFence, RunTakenOver } from "../../runs/RunFence.ts"

/** Row of the table `runs`. */
export interface RunRow {
  readonly [column: string]: string | number | null
}

/** Statements and conditions that differ between databases. */
export interface RunDialect {
  readonly sql: SqlClient.SqlClient
  /** Name of the store as users see it. */
  readonly name: string
  /** Explains an error of the database to users. */
  readonly reasonOf: (error: SqlError) => string
  /** Adds a row to `runs`; false when its idempotency key belongs to another run. */
  readonly insert: (row: RunRow) => Effect.Effect<boolean, SqlError>
  /** Condition of a statement that changes the fenced row of `runs` itself. */
  readonly isOwned: (fence: RunFence) => Fragment
  /** Condition of a query of `runs` within a statement that changes another table. */
  readonly whileOwned: (fence: RunFence) => Fragment
  /** Adds events, and returns no row when the fence is outdated. */
  readonly insertEvents: (
    fence: RunFence,
    events: ReadonlyArray<RunEvent>
  ) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
  /** Column that gives the order of insertion into `runs` and `run_steps`. */
  readonly order: Fragment
  /** Current time in milliseconds; by the clock of the database if several processes compare times. */
  readonly now: Effect.Effect<Fragment>
  /** Suffix of a query that claims rows: other processes neither wait for these rows nor claim them too. */
  readonly skipClaimed: Fragment
  /** Tries a write that changes no data, and returns the number of bytes stored. */
  readonly size: Effect.Effect<number, SqlError>
}

/** Turns errors of the database into errors of the ports. */
export const orUnavailable =
  ({ name, reasonOf }: Pick<RunDialect, "name" | "reasonOf">) =>
  <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, RunStoreUnavailable> =>
    Effect.mapError(effect, (error) => new RunStoreUnavailable({ store: name, reason: reasonOf(error) }))

/** Executes a fenced write that returns the written rows; without any, the fence is outdated and it fails. */
export const executeFencedWrite = (dialect: Pick<RunDialect, "name" | "reasonOf">) =>
(
  id: string,
  write: Effect.Effect<ReadonlyArray<unknown>, SqlError>
): Effect.Effect<void, RunStoreUnavailable | RunTakenOver> =>
  Effect.flatMap(
    orUnavailable(dialect)(write),
    (rows) => rows.length === 0 ? new RunTakenOver({ id }) : Effect.void
  )
