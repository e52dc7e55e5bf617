import { Duration, Effect, Option, Ref, Schedule } from "effect"
import type { Scope } from "effect"
import type { Run, RunEvent, RunStoreUnavailable } from "../../schema/Run.ts"
import type { RunStore } from "./RunStore.ts"

const pause = Duration.millis(500)
const retryTime = Duration.seconds(2)

/** Hears why a write has to wait. */
type Stalled = (error: RunStoreUnavailable) => Effect.Effect<void>

/** Writes what becomes of runs. What cannot be written now is written as soon as it can be. */
export interface RunWriter {
  /** Saves a run as it is now; waits for that, but not for long. */
  readonly now: (id: string) => Effect.Effect<void>
  /** Saves it before long. */
  readonly later: (id: string) => Effect.Effect<void>
  readonly events: (id: string, events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
  /** A step begins, or has come to a result. Waits until that is written: nothing may be done that would be forgotten. */
  readonly beginStep: (id: string, step: string, stalled: Stalled) => Effect.Effect<void>
  readonly keepStep: (id: string, step: string, result: unknown, stalled: Stalled) => Effect.Effect<void>
  /** Why the last write failed; nothing while writes succeed. */
  readonly trouble: Effect.Effect<Option.Option<RunStoreUnavailable>>
  /** Saves all that waits to be saved, once. */
  readonly flush: Effect.Effect<void>
}

/** @param current the run of an id as it is now */
export const makeRunWriter = (
  store: RunStore["Type"],
  current: (id: string) => Effect.Effect<Option.Option<Run>>
): Effect.Effect<RunWriter, never, Scope.Scope> =>
  Effect.gen(function*() {
    // By their ids; with a run that has ended, which nobody else has any more, as it was to be saved.
    const waiting = new Map<string, Option.Option<Run>>()
    const trouble = yield* Ref.make(Option.none<RunStoreUnavailable>())

    const watched = <A>(write: Effect.Effect<A, RunStoreUnavailable>) =>
      write.pipe(
        Effect.tapBoth({
          onSuccess: () => Ref.set(trouble, Option.none()),
          onFailure: (error) =>
            Effect.flatMap(Ref.getAndSet(trouble, Option.some(error)), (before) =>
              Option.isSome(before)
                ? Effect.void
                : Effect.logWarning(`${error.message}. It is tried again until it works`))
        })
      )
    const untilWritten = (write: Effect.Effect<void, RunStoreUnavailable>, stalled: Stalled): Effect.Effect<void> =>
      Effect.orDie(Effect.retry(Effect.tapError(watched(write), stalled), Schedule.spaced(pause)))

    const save = (id: string) =>
      Effect.gen(function*() {
        const unsaved = Option.flatten(Option.fromNullable(waiting.get(id)))
        waiting.delete(id)
        const run = Option.orElse(yield* current(id), () => unsaved)
        if (Option.isNone(run)) return
        yield* Effect.tapError(watched(store.save(run.value)), () => Effect.sync(() => waiting.set(id, run)))
      })

    const flush = Effect.suspend(() =>
      Effect.forEach([...waiting.keys()], (id) => Effect.ignore(save(id)), { discard: true })
    )
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(pause), flush)))

    return {
      now: (id) =>
        Effect.retry(save(id), Schedule.spaced("100 millis").pipe(Schedule.upTo(retryTime))).pipe(Effect.ignore),
      later: (id) => Effect.sync(() => void waiting.set(id, waiting.get(id) ?? Option.none())),
      events: (id, events) => Effect.ignore(watched(store.appendEvents(id, events))),
      beginStep: (id, step, stalled) => untilWritten(store.beginStep(id, step), stalled),
      keepStep: (id, step, result, stalled) => untilWritten(store.keepStep(id, step, result), stalled),
      trouble: Ref.get(trouble),
      flush
    }
  })
