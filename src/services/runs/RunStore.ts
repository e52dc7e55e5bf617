import { Context, Duration, Schema } from "effect"
import type { Effect, Option, Stream } from "effect"
import type { Run, RunEvent, RunsPage, RunsQuery, RunStoreUnavailable } from "../../schema/Run.ts"
import type { Idempotency, KeyedRun } from "./RunRequest.ts"

/** A run with what it takes to answer the same request again, and to go on with it in another process. */
export interface StoredRun {
  readonly run: Run
  /** What was asked for, as JSON of the endpoint's body. */
  readonly request: unknown
  readonly idempotency: Option.Option<Idempotency>
  /** The name of the workflow that it is, with its version. */
  readonly workflow: string
  /** What it follows the earlier runs of: the name of its lock. */
  readonly queue: string
  /** How often a process took it up: 1 for the one that started it. */
  readonly attempt: number
}

/** For how long an idempotency key stands for the run that it started. */
export const keyTime = Duration.hours(24)

/**
 * A run in the hands of the process that carries out this attempt of it. Whoever takes it over counts one up: what is
 * written under an earlier attempt is refused.
 */
export interface Hold {
  readonly id: string
  readonly attempt: number
}

/** Another process carries the run out now: nothing may be written of it here any more. */
export class RunTaken extends Schema.TaggedError<RunTaken>()("RunTaken", { id: Schema.String }) {
  override get message() {
    return `The run ${this.id} is carried out by another process now`
  }
}

/**
 * Something that another process may have changed: a run's state or what else is known of it, or that it is to be
 * cancelled. `any` says that it is time to look at all; `lost` that this process may not go on with any run.
 */
export type RunChange =
  | { readonly what: "state" | "data" | "cancel"; readonly id: string }
  | { readonly what: "any" | "lost" }

/** The step of a run that is kept: whether it began, and its result once it has ended. */
export interface KeptStep {
  readonly step: string
  readonly result: Option.Option<unknown>
}

/** The ids of runs that are to be cancelled, and of those that another process has taken over. */
export interface Orders {
  readonly cancelled: ReadonlyArray<string>
  readonly taken: ReadonlyArray<string>
}

/** What a store is to a person, and how many bytes it takes. */
export interface StoreSize {
  readonly store: string
  readonly bytes: number
}

type Stored<A> = Effect.Effect<A, RunStoreUnavailable>
type Held = Effect.Effect<void, RunStoreUnavailable | RunTaken>

/** Where runs, the results of their steps and their output are kept. Nothing in it is a secret: its users scrub. */
export class RunStore extends Context.Tag("berth/RunStore")<RunStore, {
  /** Waits until the store can be used. */
  readonly ready: Stored<void>
  /** Whether other processes carry runs out in it too. */
  readonly isShared: Stored<boolean>
  /** Adds a run, unless its idempotency key has started another one: that is answered, and nothing is added. */
  readonly insert: (stored: StoredRun) => Stored<Option.Option<KeyedRun>>
  /** Replaces what is known of a run that this process carries out, until it has ended. */
  readonly save: (run: Run, attempt: number) => Held
  readonly find: (id: string) => Stored<Option.Option<Run>>
  readonly list: (query: RunsQuery) => Stored<RunsPage>
  /** The newest run of an idempotency key, unless it was asked for before `since`, in milliseconds. */
  readonly findByKey: (key: string, since: number) => Stored<Option.Option<KeyedRun>>
  /**
   * Runs that have not ended and whose process has, oldest first; those of this process are among them.
   * @param except the ids of runs that are carried out here
   */
  readonly left: (except: ReadonlyArray<string>) => Stored<ReadonlyArray<StoredRun>>
  /** Takes a run over from the process that held it, and answers which attempt that is; nothing when it is not free. */
  readonly take: (hold: Hold) => Stored<Option.Option<number>>
  /** Of runs that wait, those that may begin now, since no earlier one of their queue has to end before. */
  readonly claim: (ids: ReadonlyArray<string>) => Stored<ReadonlyArray<string>>
  /** Asks the process that carries a run out to cancel it. */
  readonly askToCancel: (id: string) => Stored<void>
  /** What others have done about runs that this process carries out. */
  readonly ordersFor: (holds: ReadonlyArray<Hold>) => Stored<Orders>
  /** Nothing of this process is under way any more: others may go on with what it leaves at once. */
  readonly release: Stored<void>
  /** What other processes change, as it comes; ends at once where there are none. */
  readonly changes: Stream.Stream<RunChange>
  readonly steps: (id: string) => Stored<ReadonlyArray<KeptStep>>
  /** Notes that a step begins; its result comes later. */
  readonly beginStep: (hold: Hold, step: string) => Held
  readonly keepStep: (hold: Hold, step: string, result: unknown) => Held
  readonly appendEvents: (hold: Hold, events: ReadonlyArray<RunEvent>) => Held
  /** The kept events of a run after the one with this id. */
  readonly events: (id: string, after: number) => Stored<ReadonlyArray<RunEvent>>
  /** Writes to the store, changing nothing of it. */
  readonly check: Stored<StoreSize>
  /** Forgets runs that ended before `before`, in milliseconds, and the oldest of more than `most`. */
  readonly purge: (before: number, most: number) => Stored<void>
}>() {}
