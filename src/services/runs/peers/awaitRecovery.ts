import { Deferred, Duration, Effect } from "effect"
import type { RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import type { RunOwnership } from "../RunOwnership.ts"

// Limited, so that a script that recovers nothing can still start its own run.
const recoveryTimeout = Duration.seconds(5)

interface NewRun {
  readonly queue: string
  /** Reports whether this process is responsible for an unfinished run of the store. */
  readonly isHere: (id: string) => boolean
  /** Completes when this process has recovered the runs of an earlier one. */
  readonly recovered: Deferred.Deferred<void>
}

/**
 * Waits until an earlier process's unfinished run of the same queue is recovered before a new one starts: resumed
 * later, it would undo the new one. Not needed in a shared store, where every run waits for its turn.
 */
export const awaitRecovery = (
  ownership: Pick<RunOwnership["Type"], "isShared" | "unowned">,
  { isHere, queue, recovered }: NewRun
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    if ((yield* Deferred.isDone(recovered)) || (yield* ownership.isShared)) return
    const unowned = yield* ownership.unowned([])
    if (!unowned.some((each) => each.queue === queue && !isHere(each.run.id))) return
    yield* Effect.timeoutOption(Deferred.await(recovered), recoveryTimeout)
  })
