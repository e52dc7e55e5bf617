import { Effect, Option } from "effect"
import { type Run, RunCancelled, type RunStoreUnavailable } from "../../schema/Run.ts"
import { closeRun } from "./closeRun.ts"
import { stepUnderWay } from "./describeEnd.ts"
import type { RunStore } from "./RunStore.ts"

/**
 * Cancels a run that this process does not carry out: one that nobody does ends at once, and whoever carries it out is
 * asked to cancel it.
 * @param ended waits for its end, but not for long
 */
export const cancelElsewhere = (
  store: RunStore["Type"],
  run: Run,
  ended: Effect.Effect<unknown, RunStoreUnavailable>
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const { id, kind } = run
    const left = (yield* store.left([])).find((each) => each.run.id === id)
    const taken = left === undefined ? Option.none() : yield* store.take({ id, attempt: left.attempt })
    if (Option.isSome(taken)) {
      return yield* closeRun(store, run, taken.value, "cancelled", new RunCancelled({ kind, step: stepUnderWay(run) }))
    }
    yield* store.askToCancel(id)
    yield* ended
  })
