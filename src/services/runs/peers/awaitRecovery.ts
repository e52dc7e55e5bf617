import { Deferred, Duration, Effect } from "effect"
import type { RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import type { RunOwnership } from "../RunOwnership.ts"

// A script that recovers nothing must be able to start its own run too.
const recoveryTimeout = Duration.seconds(5)

interface NewRun {
  readonly queue: string
  /** Tells whether an unfinished run of the store is in the hands of this process. */
  readonly isHere: (id: string) => boolean
  /** Completes when this process has recovered the runs of an earlier one. */
  readonly recovered: Deferred.Deferred<void>
}

/**
 * Lets an earlier process's unfinished run of the same queue be recovered before a new one starts: resumed later, it
 * would undo the new one. In a shared store every run waits for its turn anyway.
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
