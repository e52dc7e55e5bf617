import { Effect, Option } from "effect"
import type { Run } from "../../../schema/runs/Run.ts"
import { RunCancelled, type RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import { findCurrentStep } from "../findCurrentStep.ts"
import type { RunStore } from "../RunStore.ts"
import { closeRun } from "./closeRun.ts"

/**
 * Cancels a run that this process does not execute: closes it when it has no living owner, else asks its owner.
 * @param isHere true if this process has recovered the run meanwhile
 * @param ended waits for its end, for a limited time
 */
export const cancelPeerRun = (
  { history, ownership }: RunStore,
  run: Run,
  { ended, isHere }: {
    readonly isHere: () => boolean
    readonly ended: Effect.Effect<unknown, RunStoreUnavailable>
  }
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const { id, kind } = run
    const unowned = (yield* ownership.unowned([])).find((each) => each.run.id === id && !isHere())
    const owned = unowned === undefined ? Option.none() : yield* ownership.takeOver({ id, attempt: unowned.attempt })
    if (Option.isSome(owned)) {
      const cancelled = new RunCancelled({ kind, step: findCurrentStep(run) })
      return yield* closeRun(history, run, owned.value, "cancelled", cancelled)
    }
    yield* ownership.requestCancel(id)
    yield* ended
  })
