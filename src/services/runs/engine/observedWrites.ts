import { Duration, Effect, Option, Ref } from "effect"
import type { RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import type { RunTakenOver } from "../RunFence.ts"

/** Pause after a failed write. */
export const retryPause = Duration.millis(500)

/** Receives the reason why a write has to wait. */
export type OnStalled = (error: RunStoreUnavailable) => Effect.Effect<void>

/** Writes to the store whose failures are reported. */
export interface ObservedWrites {
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
export const makeObservedWrites = (
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
