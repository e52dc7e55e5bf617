import { Context, type Effect, type Option } from "effect"
import type { Run, RunEvent, RunsPage, RunsQuery } from "../../schema/runs/Run.ts"
import type { RunStoreUnavailable } from "../../schema/runs/runFailures.ts"
import type { KeyedRun } from "./idempotency.ts"
import type { Notice } from "./Outbox.ts"
import type { RunFence, RunTakenOver } from "./RunFence.ts"
import type { StoredRun } from "./StoredRun.ts"

/** Name of a store as users see it, and its size. */
export interface StoreSize {
  readonly store: string
  readonly bytes: number
}

/** Number of runs that have not ended, by state. */
export interface UnfinishedRuns {
  readonly queued: number
  readonly running: number
}

type Stored<A> = Effect.Effect<A, RunStoreUnavailable>
type Fenced = Effect.Effect<void, RunStoreUnavailable | RunTakenOver>

/** Records runs and their output. Callers remove secrets first. */
export class RunHistory extends Context.Tag("berth/RunHistory")<RunHistory, {
  /** Waits until the store can be used. */
  readonly ready: Stored<void>
  /** Adds a run owned by this process. If its idempotency key already has a run, returns that one and adds nothing. */
  readonly insert: (stored: StoredRun) => Stored<Option.Option<KeyedRun>>
  /** Replaces a run that this process owns and that has not ended, and adds notifications in the same transaction. */
  readonly save: (run: Run, attempt: number, notices?: ReadonlyArray<Notice>) => Fenced
  readonly find: (id: string) => Stored<Option.Option<Run>>
  readonly list: (query: RunsQuery) => Stored<RunsPage>
  readonly count: Stored<UnfinishedRuns>
  /** Finds the newest run of an idempotency key that was requested at `since` or later, in milliseconds. */
  readonly findByKey: (key: string, since: number) => Stored<Option.Option<KeyedRun>>
  readonly appendEvents: (fence: RunFence, events: ReadonlyArray<RunEvent>) => Fenced
  /** Stored events of a run with an id above `after`. */
  readonly events: (id: string, after: number) => Stored<ReadonlyArray<RunEvent>>
  /** Tries a write that changes no data. */
  readonly check: Stored<StoreSize>
  /** Deletes ended runs requested before `before`, in milliseconds, and the oldest beyond `most`. */
  readonly purge: (before: number, most: number) => Stored<void>
}>() {}
