import type { RunStep, StepProgress } from "../../schema/Run.ts"
import type { Step } from "../../schema/Step.ts"

/**
 * Records a step at a time: one with a known name takes the place of the earlier entry and keeps its start, a new one
 * goes to the end. One that says again how it ended keeps its times.
 */
export const recordedAt = (steps: ReadonlyArray<RunStep>, next: Step, now: string): ReadonlyArray<RunStep> => {
  const timed = (earlier: RunStep | undefined): RunStep => {
    const isOver = next.status !== "running"
    if (earlier !== undefined && isOver && earlier.status === next.status && earlier.detail === next.detail) {
      return earlier
    }
    return {
      ...next,
      startedAt: earlier?.startedAt ?? now,
      endedAt: isOver ? now : null,
      ...(earlier?.progress === undefined ? {} : { progress: earlier.progress })
    }
  }
  return steps.some(({ step }) => step === next.step)
    ? steps.map((step) => (step.step === next.step ? timed(step) : step))
    : [...steps, timed(undefined)]
}

/** The steps with how far one of them has come. */
export const withProgress = (
  steps: ReadonlyArray<RunStep>,
  name: string,
  progress: StepProgress
): ReadonlyArray<RunStep> => steps.map((step) => (step.step === name ? { ...step, progress } : step))
