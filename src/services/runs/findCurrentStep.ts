import type { Run } from "../../schema/runs/Run.ts"

/** Name of the running step of a run, else of its last one; null for a run that has not begun. */
export const findCurrentStep = ({ startedAt, steps }: Run): string | null =>
  startedAt === null
    ? null
    : (steps.find(({ status }) => status === "running") ?? steps.at(-1))?.step ?? "its beginning"
