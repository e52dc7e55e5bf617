import type { RunVerdict } from "../../schema/runs/runVerdict.ts"

export const exitCodes = {
  done: 0,
  failed: 1,
  /** Drift, or a plan with changes. */
  differs: 2,
  /** Deployed or started, but unhealthy. */
  unhealthy: 3,
  usage: 64,
  interrupted: 130
} as const

/** Exit code by the verdict of a run. */
export const verdictCode: Readonly<Record<RunVerdict, number>> = {
  done: exitCodes.done,
  unhealthy: exitCodes.unhealthy,
  failed: exitCodes.failed
}
