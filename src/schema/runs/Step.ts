import { Schema } from "effect"
import { text } from "../words/describedFields.ts"

export const StepStatus = Schema.Literal("running", "done", "error", "skipped", "warn")
export type StepStatus = typeof StepStatus.Type

/** Current state of a named step of a run. */
export const Step = Schema.Struct({
  step: text("The name of the step.", "upload"),
  status: StepStatus.annotations({ description: "Status." }),
  detail: text("Result, or reason of the failure."),
  run: Schema.optional(text("The run that performs it, where that is another one.", "01m80yqq5mpfzvahn1sfvx7mvm"))
}).annotations({ identifier: "Step" })
export interface Step extends Schema.Schema.Type<typeof Step> {}
