import { Deferred, Duration, Effect } from "effect"
import type { RunStoreUnavailable } from "../../schema/Run.ts"
import type { RunStore } from "./RunStore.ts"

// A program that takes up nothing must come to its own run too.
const patience = Duration.seconds(5)

/** What a new run is to wait behind. */
interface Behind {
  /** The queue of the new run. */
  readonly queue: string
  /** Whether a run that has not ended in the store is in the hands of this process. */
  readonly isHere: (id: string) => boolean
  /** Completes when this process has taken up what was left. */
  readonly takenUp: Deferred.Deferred<void>
}

/**
 * Lets an earlier process's unfinished run of a queue be taken up before the next one: it has come first, and going on
 * with it later would undo what that one did. In a store that is shared each run waits for its turn anyway.
 */
export const leftFirst = (
  store: Pick<RunStore["Type"], "isShared" | "left">,
  { isHere, queue, takenUp }: Behind
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    if ((yield* Deferred.isDone(takenUp)) || (yield* store.isShared)) return
    const left = yield* store.left([])
    if (!left.some((each) => each.queue === queue && !isHere(each.run.id))) return
    yield* Effect.timeoutOption(Deferred.await(takenUp), patience)
  })
