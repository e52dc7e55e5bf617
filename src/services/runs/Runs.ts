import { Context, type Effect, type Option, type Schema, type Stream } from "effect"
import type { Run, RunEvent, RunKind, RunsPage, RunsQuery, RunSubject } from "../../schema/runs/Run.ts"
import type { RunEnded, RunFailure, RunNotFound, RunStoreUnavailable } from "../../schema/runs/runFailures.ts"
import type { LockKey } from "../locks/LockKey.ts"
import type { FileLocked } from "../locks/Locks.ts"
import type { KeyedRun } from "./idempotency.ts"
import type { StoreSize, UnfinishedRuns } from "./RunHistory.ts"
import type { Steps } from "./Steps.ts"
import type { StoredRun } from "./StoredRun.ts"

/**
 * Recovery of an unfinished run after a restart: perform the steps without a stored result (`resume`), read its outcome
 * from the server (`reconcile`), or record it as interrupted (`give up`).
 */
export type AfterRestart = "resume" | "reconcile" | "give up"

/** Description of a run, without its program. */
export interface RunSpec<A, I> {
  readonly kind: RunKind
  /** Runs of one key are executed one after the other, in the order of their requests. */
  readonly key: LockKey
  readonly subject: RunSubject
  /** Body of the request, as JSON, from which another process can resume the run. Stored only if free of secrets. */
  readonly request: unknown
  readonly result: Schema.Schema<A, I>
  readonly afterRestart: AfterRestart
}

export interface StartedRun<A, E> {
  readonly run: Run
  /** Waits for its end; interrupting the wait does not stop the run. */
  readonly result: Effect.Effect<A, E | RunFailure | FileLocked>
}

/** Resumes a run that has been taken over, with this program. */
export type ResumeRun = <A, I, E extends { readonly message: string }, R>(
  spec: RunSpec<A, I>,
  program: Effect.Effect<A, E, R>
) => Effect.Effect<true, RunStoreUnavailable, Exclude<R, Steps>>

/** Resumes an unowned run as its kind requires; returns false if that is not possible. */
export type RecoverRun<R> = (unowned: StoredRun, resume: ResumeRun) => Effect.Effect<boolean, RunStoreUnavailable, R>

/**
 * Executes the long programs of the service. They outlive their callers, and their history and recorded steps outlive the
 * process.
 */
export class Runs extends Context.Tag("berth/Runs")<Runs, {
  /** Records a run and queues it behind earlier runs of its key. */
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
  /** Counts the runs that have not ended, of all processes that share the store. */
  readonly count: Effect.Effect<UnfinishedRuns, RunStoreUnavailable>
  readonly await: (id: string) => Effect.Effect<Run, RunNotFound | RunStoreUnavailable>
  /** Events of a run after the one with the id `after`; without it the whole run comes first. */
  readonly events: (
    id: string,
    after: Option.Option<number>
  ) => Effect.Effect<Stream.Stream<RunEvent>, RunNotFound | RunStoreUnavailable>
  /** Stops a run at its next safe point, and a queued one at once. Returns its state within two seconds. */
  readonly cancel: (id: string) => Effect.Effect<Run, RunNotFound | RunEnded | RunStoreUnavailable>
  /**
   * Finds the run that a request with this idempotency key started.
   * @param since time of the request or earlier, in milliseconds; a day ago unless given
   */
  readonly findByKey: (key: string, since?: number) => Effect.Effect<Option.Option<KeyedRun>, RunStoreUnavailable>
  /** Reports whether this process executes a run, or will when its turn comes. */
  readonly isHere: (id: string) => Effect.Effect<boolean>
  /** Reports whether peer processes execute runs of the same store. */
  readonly isShared: Effect.Effect<boolean, RunStoreUnavailable>
  /**
   * Recovers unfinished runs of other processes and of earlier ones. A run that `recoverRun` does not resume is
   * recorded as interrupted. Returns false while the store is unavailable.
   */
  readonly recover: <R>(recoverRun: RecoverRun<R>) => Effect.Effect<boolean, never, R>
  /** Returns the name and size of the store; fails while runs cannot be recorded. */
  readonly checkStore: Effect.Effect<StoreSize, RunStoreUnavailable>
}>() {}
