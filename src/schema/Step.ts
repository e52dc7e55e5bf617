import { Schema } from "effect"
import { text } from "./described.ts"

/** How far a step has come. */
export const StepStatus = Schema.Literal("running", "done", "error", "skipped", "warn")
export type StepStatus = typeof StepStatus.Type

/** One named step of a run, as it stands now. */
export const Step = Schema.Struct({
  step: text("The name of the step.", "upload"),
  status: StepStatus.annotations({ description: "How far it has come." }),
  detail: text("What it did, or why it failed.")
}).annotations({ identifier: "Step" })
export interface Step extends Schema.Schema.Type<typeof Step> {}
