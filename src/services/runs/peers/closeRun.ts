import { Clock, Effect } from "effect"
import type { Run, RunState } from "../../../schema/runs/Run.ts"
import type { RunCancelled, RunInterrupted, RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import { endRun } from "../endRun.ts"
import type { RunHistory } from "../RunHistory.ts"

/** Records the end of a run that is not resumed; does nothing once another process has taken it over. */
export const closeRun = (
  history: Pick<RunHistory["Type"], "save">,
  run: Run,
  attempt: number,
  state: RunState,
  { message: error, status }: RunInterrupted | RunCancelled
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const endedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* history.save(endRun(run, { state, endedAt, result: null, error: { status, error } }), attempt)
  }).pipe(Effect.catchTag("RunTakenOver", () => Effect.void))
