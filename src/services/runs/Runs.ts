import { Clock, Context, Effect, Layer, Option, type Schema, type Scope, type Stream, Struct } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import type { TooManyRuns } from "../../schema/basics.ts"
import type {
  RequestedBy,
  Run,
  RunCancelled,
  RunEnded,
  RunEvent,
  RunInterrupted,
  RunKind,
  RunLost,
  RunNotFound,
  RunsPage,
  RunsQuery,
  RunStep,
  RunStoreUnavailable,
  RunSubject,
  ServiceStopping
} from "../../schema/runs.ts"
import { formatUserAtMachine } from "../local/user.ts"
import type { FileLocked, LockKey } from "../locks/Locks.ts"
import type { Steps } from "./Steps.ts"
import type { Idempotency, KeyedRun, StoredRun, StoreSize, UnfinishedRuns } from "./store.ts"

/** Reasons why a run could not start or ended early. */
export type RunFailure =
  | RunCancelled
  | RunInterrupted
  | RunLost
  | RunStoreUnavailable
  | ServiceStopping
  | TooManyRuns

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

/** Request that starts a run; by default one of a script. */
export class RunRequest extends Context.Reference<RunRequest>()("berth/RunRequest", {
  defaultValue: (): {
    readonly requestedBy: RequestedBy
    readonly idempotency: Option.Option<Idempotency>
    /** Parent run that starts this one, which is not counted as a separate run. */
    readonly parent?: string
    /** Executed once the run is recorded. */
    readonly started: (run: Run) => Effect.Effect<void>
    /** Executed when a peer has just started a run for the same key: this process starts none, and the call waits. */
    readonly isUsed: (by: KeyedRun) => Effect.Effect<void>
  } => ({
    requestedBy: { door: "script", name: formatUserAtMachine() },
    idempotency: Option.none(),
    started: () => Effect.void,
    isUsed: () => Effect.void
  })
}) {}

/** Identity of this process, as written into the locks that it takes on servers. */
export class Instance extends Context.Tag("berth/Instance")<Instance, {
  /** Unique for every start of a process. */
  readonly id: string
  /** User, machine and process: `alice@laptop, process 4711`. */
  readonly description: string
  /** Registers a lock until the scope closes, and returns its name, which begins with the id. */
  readonly hold: Effect.Effect<string, never, Scope.Scope>
  /** Reports whether a lock of this name is registered. */
  readonly isHolding: (name: string) => Effect.Effect<boolean>
}>() {}

export const InstanceLive = Layer.sync(Instance, () => {
  const id = randomUUID()
  const lockNames = new Set<string>()
  return Instance.of({
    id,
    description: `${formatUserAtMachine()}, process ${process.pid}`,
    hold: Effect.acquireRelease(
      Effect.sync(() => {
        const name = `${id}/${randomUUID()}`
        lockNames.add(name)
        return name
      }),
      (name) => Effect.sync(() => lockNames.delete(name))
    ),
    isHolding: (name) => Effect.sync(() => lockNames.has(name))
  })
})

// Crockford's base 32: sorts by value, without letters that look like digits.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"
const timeDigits = 10

const timeText = (millis: number): string =>
  Array.from({ length: timeDigits }, (_, index) => digits[Math.floor(millis / 32 ** (timeDigits - 1 - index)) % 32])
    .join("")

const randomText = (): string => Array.from(randomBytes(16), (byte) => digits[byte % 32]).join("")

/**
 * Makes ids of 26 characters: milliseconds since 1970, then random characters. They sort by time; those of one process
 * sort by creation even when its clock is set back.
 */
export const makeRunIds: Effect.Effect<Effect.Effect<string>> = Effect.sync(() => {
  let last = 0
  return Effect.map(Clock.currentTimeMillis, (now) => {
    last = Math.max(now, last + 1)
    return timeText(last) + randomText()
  })
})

/** End of a run that is recorded. */
interface RecordedEnd extends Pick<Run, "error" | "result" | "state"> {
  readonly endedAt: string
}

/** Removes `waitsFor` from a run. */
export const withoutWait = Struct.omit("waitsFor")

/** Closes the steps that were running when the last attempt was cut off. */
const closeSteps = (steps: Run["steps"], { endedAt, result, state }: RecordedEnd): ReadonlyArray<RunStep> => {
  const end = result === null && state !== "succeeded"
    ? { status: "error", detail: state } as const
    : { status: "done", detail: "came to its end while no service waited for it" } as const
  return steps.map((step) => step.status === "running" ? { ...step, ...end, endedAt } : step)
}

/** Ends a run: closes its steps and removes its wait. */
export const endRun = (run: Run, end: RecordedEnd): Run => ({
  ...withoutWait(run),
  ...end,
  steps: closeSteps(run.steps, end)
})
