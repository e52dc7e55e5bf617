import { Context } from "effect"
import type { Effect, Option, Schema, Stream } from "effect"
import type {
  Run,
  RunEnded,
  RunEvent,
  RunFailure,
  RunKind,
  RunNotFound,
  RunsPage,
  RunsQuery,
  RunStoreUnavailable,
  RunSubject
} from "../../schema/Run.ts"
import type { LockKey } from "../locks/LockKey.ts"
import type { FileLocked } from "../locks/Locks.ts"
import type { KeyedRun } from "./RunRequest.ts"
import type { StoredRun, StoreSize } from "./RunStore.ts"
import type { Steps } from "./Steps.ts"

/**
 * What the next start of the service does with a run that has not ended: it goes on with the steps that are not kept
 * (`resume`), finds out what became of it (`reconcile`), or records it as interrupted (`give up`).
 */
export type AfterRestart = "resume" | "reconcile" | "give up"

/** What a run is, beside the program that it executes. */
export interface RunSpec<A, I> {
  readonly kind: RunKind
  /** Runs of one key follow each other in the order they came. */
  readonly key: LockKey
  readonly subject: RunSubject
  /** What was asked for, as JSON: with it another process can go on with the run. No secret is part of it. */
  readonly request: unknown
  /** What the endpoint answers. */
  readonly result: Schema.Schema<A, I>
  readonly afterRestart: AfterRestart
}

/** A run that was started, and what comes of it. */
export interface StartedRun<A, E> {
  readonly run: Run
  /** Waits for its end; whoever stops waiting does not stop the run. */
  readonly result: Effect.Effect<A, E | RunFailure | FileLocked>
}

/** Goes on with a run that another process left unfinished; answers true. */
export type GoOn = <A, I, E extends { readonly message: string }, R>(
  spec: RunSpec<A, I>,
  program: Effect.Effect<A, E, R>
) => Effect.Effect<true, RunStoreUnavailable, Exclude<R, Steps>>

/** Finds out how to go on with a run, and does so; answers false when that is not possible. */
export type TakeUp<R> = (left: StoredRun, goOn: GoOn) => Effect.Effect<boolean, RunStoreUnavailable, R>

/**
 * The long programs of the service. They belong to the service and not to whoever asked for them: a caller that goes
 * away interrupts nothing, and what happened outlives the process.
 */
export class Runs extends Context.Tag("berth/Runs")<Runs, {
  /** Records a run and starts it; it waits for earlier runs of its key. */
  readonly start: <A, I, E extends { readonly message: string }, R>(
    spec: RunSpec<A, I>,
    program: Effect.Effect<A, E, R>
  ) => Effect.Effect<StartedRun<A, E>, RunFailure, Exclude<R, Steps>>
  /** Starts a run and waits for its result. */
  readonly run: <A, I, E extends { readonly message: string }, R>(
    spec: RunSpec<A, I>,
    program: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RunFailure | FileLocked, Exclude<R, Steps>>
  readonly get: (id: string) => Effect.Effect<Run, RunNotFound | RunStoreUnavailable>
  readonly list: (query: RunsQuery) => Effect.Effect<RunsPage, RunStoreUnavailable>
  /** Waits until a run has ended, and answers it then. */
  readonly await: (id: string) => Effect.Effect<Run, RunNotFound | RunStoreUnavailable>
  /** What happens in a run, from the event after `after` on; without it the whole run comes first. */
  readonly events: (
    id: string,
    after: Option.Option<number>
  ) => Effect.Effect<Stream.Stream<RunEvent>, RunNotFound | RunStoreUnavailable>
  /** Stops a run at its next safe point; one that waits never begins. Answers it as it is then. */
  readonly cancel: (id: string) => Effect.Effect<Run, RunNotFound | RunEnded | RunStoreUnavailable>
  /** The run that a request with this idempotency key started within the last day. */
  readonly findByKey: (key: string) => Effect.Effect<Option.Option<KeyedRun>, RunStoreUnavailable>
  /** Whether other processes carry runs out in the same store. */
  readonly isShared: Effect.Effect<boolean, RunStoreUnavailable>
  /**
   * Asks for each run that another process, or an earlier one, left unfinished how to go on with it. One for which `how`
   * answers false is recorded as interrupted. Answers whether that could be done: the store may be out of reach.
   */
  readonly takeUp: <R>(how: TakeUp<R>) => Effect.Effect<boolean, never, R>
  /** Why runs cannot be recorded now; nothing when they can. */
  readonly trouble: Effect.Effect<Option.Option<RunStoreUnavailable>>
  /** What runs are recorded in and how many bytes it takes; fails when they cannot be recorded now. */
  readonly checkStore: Effect.Effect<StoreSize, RunStoreUnavailable>
}>() {}
