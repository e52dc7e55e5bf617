import { Context } from "effect"
import type { Effect, Option } from "effect"
import type { Run, RunEvent, RunsPage, RunsQuery, RunStoreUnavailable } from "../../schema/Run.ts"
import type { Idempotency } from "./RunRequest.ts"

/** A run with what it takes to answer the same request again, and to go on with it in another process. */
export interface StoredRun {
  readonly run: Run
  /** What was asked for, as JSON of the endpoint's body. */
  readonly request: unknown
  readonly idempotency: Option.Option<Idempotency>
  /** The name of the workflow that it is, with its version. */
  readonly workflow: string
  /** How often a process took it up: 1 for the one that started it. */
  readonly attempt: number
}

/** A run that the request of an idempotency key started, with the digest of that request. */
export interface KeyedRun {
  readonly run: Run
  readonly digest: string
}

/** The step of a run that is kept: whether it began, and its result once it has ended. */
export interface KeptStep {
  readonly step: string
  readonly result: Option.Option<unknown>
}

type Stored<A> = Effect.Effect<A, RunStoreUnavailable>

/** Where runs, the results of their steps and their output are kept. Nothing in it is a secret: its users scrub. */
export class RunStore extends Context.Tag("berth/RunStore")<RunStore, {
  /** What a person knows the store by. */
  readonly name: string
  /** Waits until the store can be used. */
  readonly ready: Stored<void>
  readonly insert: (stored: StoredRun) => Stored<void>
  /** Replaces what is known of a run that was inserted. */
  readonly save: (run: Run) => Stored<void>
  readonly find: (id: string) => Stored<Option.Option<Run>>
  readonly list: (query: RunsQuery) => Stored<RunsPage>
  /** The newest run of an idempotency key, unless it was asked for before `since`, in milliseconds. */
  readonly findByKey: (key: string, since: number) => Stored<Option.Option<KeyedRun>>
  /** Runs that have not ended, oldest first. */
  readonly unfinished: Stored<ReadonlyArray<StoredRun>>
  /** Counts another attempt of a run and answers which it is. */
  readonly beginAttempt: (id: string) => Stored<number>
  readonly steps: (id: string) => Stored<ReadonlyArray<KeptStep>>
  /** Notes that a step begins; its result comes later. */
  readonly beginStep: (id: string, step: string) => Stored<void>
  readonly keepStep: (id: string, step: string, result: unknown) => Stored<void>
  readonly appendEvents: (id: string, events: ReadonlyArray<RunEvent>) => Stored<void>
  /** The kept events of a run after the one with this id. */
  readonly events: (id: string, after: number) => Stored<ReadonlyArray<RunEvent>>
  /** Writes to the store, changing nothing of it, and answers how many bytes it takes. */
  readonly check: Stored<number>
  /** Forgets runs that ended before `before`, in milliseconds, and the oldest of more than `most`. */
  readonly purge: (before: number, most: number) => Stored<void>
}>() {}
