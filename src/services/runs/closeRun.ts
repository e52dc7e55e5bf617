import { Clock, Effect } from "effect"
import type { Run, RunCancelled, RunInterrupted, RunState, RunStoreUnavailable } from "../../schema/Run.ts"
import type { RunStore } from "./RunStore.ts"

/** Records the end of a run that nobody goes on with; who has taken it over meanwhile records it. */
export const closeRun = (
  store: RunStore["Type"],
  run: Run,
  attempt: number,
  state: RunState,
  { message: error, status }: RunInterrupted | RunCancelled
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const endedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* store.save({ ...run, state, endedAt, error: { status, error } }, attempt)
  }).pipe(Effect.catchTag("RunTaken", () => Effect.void))
