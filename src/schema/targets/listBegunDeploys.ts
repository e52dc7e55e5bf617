import type { Run } from "../runs/Run.ts"

/** Deploy to one target, started by another run as a run of its own. */
export interface BegunDeploy {
  readonly id: string
  /** Label of the target in the steps of the run. */
  readonly label: string
}

/** Deploys that a run has started, in the order of their first steps. */
export const listBegunDeploys = ({ steps }: Pick<Run, "steps">): ReadonlyArray<BegunDeploy> => {
  const labels = new Map(
    steps.flatMap(({ run, step }) => run === undefined ? [] : [[run, step.slice(0, step.lastIndexOf(": "))] as const])
  )
  return [...labels].map(([id, label]) => ({ id, label }))
}
