import { Duration, Effect, Option, Queue, Ref, Schedule, type Scope } from "effect"
import type { Run, RunEvent, RunStoreUnavailable } from "../../schema/runs.ts"
import { makeNamedLocks } from "../locks/Locks.ts"
import type { RunFence, RunStore, RunTakenOver } from "./store.ts"

/** Pause after a failed write. */
const retryPause = Duration.millis(500)

/** Receives the reason why a write has to wait. */
type OnStalled = (error: RunStoreUnavailable) => Effect.Effect<void>

/** Writes to the store whose failures are reported. */
interface ObservedWrites {
  /** Error of the last write; none once a write succeeds. */
  readonly failure: Effect.Effect<Option.Option<RunStoreUnavailable>>
  readonly observed: <A>(
    write: Effect.Effect<A, RunStoreUnavailable | RunTakenOver>
  ) => Effect.Effect<A, RunStoreUnavailable | RunTakenOver>
  /** Repeats a write until it succeeds; interrupts when a peer has taken the run over. */
  readonly untilWritten: (
    write: Effect.Effect<void, RunStoreUnavailable | RunTakenOver>,
    onStalled: OnStalled
  ) => Effect.Effect<void>
}

/** @param onTakenOver executed for a run that a peer has taken over */
const makeObservedWrites = (
  onTakenOver: (id: string) => Effect.Effect<void>
): Effect.Effect<ObservedWrites> =>
  Effect.map(Ref.make(Option.none<RunStoreUnavailable>()), (failure) => {
    const observed = <A>(write: Effect.Effect<A, RunStoreUnavailable | RunTakenOver>) =>
      write.pipe(
        Effect.tap(() => Ref.set(failure, Option.none())),
        Effect.tapErrorTag("RunStoreUnavailable", (error) =>
          Effect.flatMap(Ref.getAndSet(failure, Option.some(error)), (before) =>
            Option.isSome(before)
              ? Effect.void
              : Effect.logWarning(`${error.message}. It is tried again until it works`))),
        Effect.tapErrorTag("RunTakenOver", ({ id }) => onTakenOver(id))
      )
    const untilWritten = (
      write: Effect.Effect<void, RunStoreUnavailable | RunTakenOver>,
      onStalled: OnStalled
    ): Effect.Effect<void> =>
      observed(write).pipe(
        Effect.catchTags({
          RunTakenOver: () => Effect.interrupt,
          RunStoreUnavailable: (error) =>
            onStalled(error).pipe(
              Effect.zipRight(Effect.interruptible(Effect.sleep(retryPause))),
              Effect.zipRight(untilWritten(write, onStalled))
            )
        })
      )
    return { failure: Ref.get(failure), observed, untilWritten }
  })

const savePause = Duration.millis(100)
const retryTime = Duration.seconds(2)

/** Current state of a run, and the attempt that it belongs to. */
export interface RunSnapshot {
  readonly run: Run
  readonly attempt: number
}

/** A run that waits to be saved. */
interface Pending {
  /** Final state of a run that has ended; none while it is executed, in which case its current state is saved. */
  readonly last: Option.Option<RunSnapshot>
}

/** Writes runs to the store; failed writes are retried until they succeed. */
export interface RunWriter {
  /** Saves the current state of a run; waits two seconds at most. */
  readonly saveNow: (id: string) => Effect.Effect<void>
  /** Saves it in the background, ten times a second at most. */
  readonly saveSoon: (id: string) => Effect.Effect<void>
  readonly appendEvents: (fence: RunFence, events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
  /**
   * Records the start of a step or its result, and waits until that is stored: an unrecorded step would be repeated.
   * Interrupts when a peer has taken over the run.
   */
  readonly beginStep: (fence: RunFence, step: string, onStalled: OnStalled) => Effect.Effect<void>
  readonly completeStep: (
    fence: RunFence,
    step: string,
    result: unknown,
    onStalled: OnStalled
  ) => Effect.Effect<void>
  /** Error of the last write; none once a write succeeds. */
  readonly failure: Effect.Effect<Option.Option<RunStoreUnavailable>>
  /** Reports whether a run waits to be saved or is being saved, so that the stored one is outdated. */
  readonly isPending: (id: string) => boolean
  /** Last state of a run that has ended here and is not saved yet. */
  readonly unsaved: (id: string) => Option.Option<Run>
  /** Tries once to save every run that waits. */
  readonly flush: Effect.Effect<void>
}

/**
 * @param current state of a run that this process executes
 * @param onTakenOver executed for a run that a peer has taken over
 */
export const makeRunWriter = (
  { history, ownership }: RunStore,
  current: (id: string) => Effect.Effect<Option.Option<RunSnapshot>>,
  onTakenOver: (id: string) => Effect.Effect<void>
): Effect.Effect<RunWriter, never, Scope.Scope> =>
  Effect.gen(function*() {
    // Keyed by id. Each change makes a new entry, so that a save removes only what it has saved.
    const pending = new Map<string, Pending>()
    const { failure, observed, untilWritten } = yield* makeObservedWrites(onTakenOver)
    const { withName } = yield* makeNamedLocks
    const wake = yield* Queue.sliding<void>(1)
    const enqueue = (id: string, last: Pending["last"]) =>
      Effect.zipRight(Effect.sync(() => pending.set(id, { last })), Queue.offer(wake, undefined))
    const lastOf = (id: string) => Option.flatMap(Option.fromNullable(pending.get(id)), ({ last }) => last)

    // Saves of one run are sequential, so that an older state never replaces a newer one.
    const save = (id: string) =>
      withName(
        id,
        Effect.gen(function*() {
          const entry = pending.get(id)
          const now = Option.orElse(yield* current(id), () => lastOf(id))
          if (Option.isSome(now)) {
            yield* observed(history.save(now.value.run, now.value.attempt)).pipe(
              Effect.tapErrorTag("RunStoreUnavailable", () => enqueue(id, now)),
              Effect.catchTag("RunTakenOver", () => Effect.void)
            )
          }
          if (pending.get(id) === entry) pending.delete(id)
        })
      )

    const flush = Effect.suspend(() =>
      Effect.forEach([...pending.keys()], (id) => Effect.ignore(save(id)), { discard: true })
    )
    const pauseNow = Effect.map(failure, (error) => Option.isSome(error) ? retryPause : savePause)
    yield* Effect.forkScoped(
      Queue.take(wake).pipe(
        Effect.zipRight(flush),
        Effect.zipRight(Effect.flatMap(pauseNow, Effect.sleep)),
        Effect.forever
      )
    )

    return {
      saveNow: (id) =>
        Effect.retry(save(id), Schedule.spaced("100 millis").pipe(Schedule.upTo(retryTime))).pipe(Effect.ignore),
      saveSoon: (id) => Effect.suspend(() => Effect.asVoid(enqueue(id, lastOf(id)))),
      appendEvents: (fence, events) => Effect.ignore(observed(history.appendEvents(fence, events))),
      beginStep: (fence, step, onStalled) => untilWritten(ownership.beginStep(fence, step), onStalled),
      completeStep: (fence, step, result, onStalled) =>
        untilWritten(ownership.completeStep(fence, step, result), onStalled),
      failure,
      isPending: (id) => pending.has(id),
      unsaved: (id) => Option.map(lastOf(id), ({ run }) => run),
      flush
    }
  })
