import { Struct } from "effect"
import type { Run, RunStep } from "../../schema/runs/Run.ts"

/** End of a run that is recorded. */
export interface RecordedEnd extends Pick<Run, "error" | "result" | "state"> {
  readonly endedAt: string
}

/** Removes `waitsFor` from a run. */
export const withoutWait = Struct.omit("waitsFor")

/** Closes the steps that were running when the last attempt was cut off. */
const closeSteps = (steps: Run["steps"], { endedAt, result, state }: RecordedEnd): ReadonlyArray<RunStep> => {
  const end = result === null && state !== "succeeded"
    ? { status: "error", detail: state } as const
    : { status: "done", detail: "came to its end while no service waited for it" } as const
  return steps.map((step) => step.status === "running" ? { ...step, ...end, endedAt } : step)
}

/** Ends a run: closes its steps and removes its wait. */
export const endRun = (run: Run, end: RecordedEnd): Run => ({
  ...withoutWait(run),
  ...end,
  steps: closeSteps(run.steps, end)
})
