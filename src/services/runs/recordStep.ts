import type { RunStep, StepProgress } from "../../schema/runs/Run.ts"
import type { Step } from "../../schema/runs/Step.ts"

/**
 * Appends a step, or replaces the entry of the same name and keeps its start. Recording the same end again, as a resumed
 * run does, keeps both times.
 */
export const recordStep = (steps: ReadonlyArray<RunStep>, next: Step, now: string): ReadonlyArray<RunStep> => {
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

export const updateProgress = (
  steps: ReadonlyArray<RunStep>,
  name: string,
  progress: StepProgress
): ReadonlyArray<RunStep> => steps.map((step) => (step.step === name ? { ...step, progress } : step))
