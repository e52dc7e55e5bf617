import { Schema } from "effect"

/** How far a step has come. */
export const StepStatus = Schema.Literal("running", "done", "error", "skipped", "warn")
export type StepStatus = typeof StepStatus.Type

/** One named step of a run, as it stands now. */
export const Step = Schema.Struct({
  step: Schema.String,
  status: StepStatus,
  detail: Schema.String
}).annotations({ identifier: "Step" })
export interface Step extends Schema.Schema.Type<typeof Step> {}
