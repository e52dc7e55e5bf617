import { Duration, Effect, Option, Queue, Ref, Schedule } from "effect"
import type { Scope } from "effect"
import type { Run, RunEvent, RunStoreUnavailable } from "../../schema/Run.ts"
import { makeNamedLocks } from "../locks/namedLocks.ts"
import type { Hold, RunStore, RunTaken } from "./RunStore.ts"

const pause = Duration.millis(100)
const retryPause = Duration.millis(500)
const retryTime = Duration.seconds(2)

/** Hears why a write has to wait. */
type Stalled = (error: RunStoreUnavailable) => Effect.Effect<void>

/** A run as it is now, and which attempt of it that is. */
export interface HeldRun {
  readonly run: Run
  readonly attempt: number
}

/** Writes what becomes of runs. What cannot be written now is written as soon as it can be. */
export interface RunWriter {
  /** Saves a run as it is now; waits for that, but not for long. */
  readonly now: (id: string) => Effect.Effect<void>
  /** Saves it soon: at once, and then ten times a second at most. */
  readonly later: (id: string) => Effect.Effect<void>
  readonly events: (hold: Hold, events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
  /**
   * A step begins, or has come to a result. Waits until that is written: nothing may be done that would be forgotten.
   * Is interrupted when another process has taken the run over.
   */
  readonly beginStep: (hold: Hold, step: string, stalled: Stalled) => Effect.Effect<void>
  readonly keepStep: (hold: Hold, step: string, result: unknown, stalled: Stalled) => Effect.Effect<void>
  /** Why the last write failed; nothing while writes succeed. */
  readonly trouble: Effect.Effect<Option.Option<RunStoreUnavailable>>
  /** Whether a run waits to be saved: the store does not know yet what has become of it. */
  readonly isWaiting: (id: string) => boolean
  /** Saves all that waits to be saved, once. */
  readonly flush: Effect.Effect<void>
}

/**
 * @param current the run of an id as it is now
 * @param taken hears of a run that another process has taken over
 */
export const makeRunWriter = (
  store: RunStore["Type"],
  current: (id: string) => Effect.Effect<Option.Option<HeldRun>>,
  taken: (id: string) => Effect.Effect<void>
): Effect.Effect<RunWriter, never, Scope.Scope> =>
  Effect.gen(function*() {
    // By their ids; with a run that has ended, which nobody else has any more, as it was to be saved.
    const waiting = new Map<string, Option.Option<HeldRun>>()
    const trouble = yield* Ref.make(Option.none<RunStoreUnavailable>())
    const { withName } = yield* makeNamedLocks
    const wake = yield* Queue.sliding<void>(1)
    const wait = (id: string, run: Option.Option<HeldRun>) =>
      Effect.zipRight(Effect.sync(() => waiting.set(id, run)), Queue.offer(wake, undefined))

    const watched = <A>(write: Effect.Effect<A, RunStoreUnavailable | RunTaken>) =>
      write.pipe(
        Effect.tap(() => Ref.set(trouble, Option.none())),
        Effect.tapErrorTag("RunStoreUnavailable", (error) =>
          Effect.flatMap(Ref.getAndSet(trouble, Option.some(error)), (before) =>
            Option.isSome(before)
              ? Effect.void
              : Effect.logWarning(`${error.message}. It is tried again until it works`))),
        Effect.tapErrorTag("RunTaken", ({ id }) => taken(id))
      )
    const untilWritten = (
      write: Effect.Effect<void, RunStoreUnavailable | RunTaken>,
      stalled: Stalled
    ): Effect.Effect<void> =>
      watched(write).pipe(
        Effect.catchTags({
          RunTaken: () => Effect.interrupt,
          RunStoreUnavailable: (error) =>
            stalled(error).pipe(
              Effect.zipRight(Effect.interruptible(Effect.sleep(retryPause))),
              Effect.zipRight(untilWritten(write, stalled))
            )
        })
      )

    // One after the other, so that what a run has come to is never followed by what it was before.
    const save = (id: string) =>
      withName(
        id,
        Effect.gen(function*() {
          const unsaved = Option.flatten(Option.fromNullable(waiting.get(id)))
          waiting.delete(id)
          const now = Option.orElse(yield* current(id), () => unsaved)
          if (Option.isNone(now)) return
          yield* watched(store.save(now.value.run, now.value.attempt)).pipe(
            Effect.tapErrorTag("RunStoreUnavailable", () => wait(id, now)),
            Effect.catchTag("RunTaken", () => Effect.void)
          )
        })
      )

    const flush = Effect.suspend(() =>
      Effect.forEach([...waiting.keys()], (id) => Effect.ignore(save(id)), { discard: true })
    )
    const pauseNow = Effect.map(Ref.get(trouble), (error) => Option.isSome(error) ? retryPause : pause)
    yield* Effect.forkScoped(
      Queue.take(wake).pipe(
        Effect.zipRight(flush),
        Effect.zipRight(Effect.flatMap(pauseNow, Effect.sleep)),
        Effect.forever
      )
    )

    return {
      now: (id) =>
        Effect.retry(save(id), Schedule.spaced("100 millis").pipe(Schedule.upTo(retryTime))).pipe(Effect.ignore),
      later: (id) => Effect.suspend(() => Effect.asVoid(wait(id, waiting.get(id) ?? Option.none()))),
      events: (hold, events) => Effect.ignore(watched(store.appendEvents(hold, events))),
      beginStep: (hold, step, stalled) => untilWritten(store.beginStep(hold, step), stalled),
      keepStep: (hold, step, result, stalled) => untilWritten(store.keepStep(hold, step, result), stalled),
      trouble: Ref.get(trouble),
      isWaiting: (id) => waiting.has(id),
      flush
    }
  })
