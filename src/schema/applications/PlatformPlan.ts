import { Schema } from "effect"
import { describeMovedFacts } from "../basics/planHash.ts"
import { field, text, texts } from "../words/describedFields.ts"
import { cut } from "../words/quoted.ts"

/** A planned change of an upsert. Secrets are masked as `***`. */
export const PlanChange = Schema.Struct({
  target: Schema.Literal("application", "variable", "route", "hook", "deployment", "changelog").annotations({
    description: "Kind of what would be changed."
  }),
  field: text("The field of it.", "git_branch"),
  label: text("Label of the field.", "Branch"),
  old: Schema.Unknown.annotations({ description: "Present value; null when there is none." }),
  new: Schema.Unknown.annotations({ description: "Value afterwards." })
}).annotations({ identifier: "PlanChange" })
export interface PlanChange extends Schema.Schema.Type<typeof PlanChange> {}

/** Difference from the declaration that an upsert does not fix, with its remedy. */
export const StayingDifference = Schema.Struct({
  target: Schema.Literal("application", "variable", "route", "hook").annotations({
    description: "Kind of what differs."
  }),
  field: text("The field of it.", "url"),
  label: text("Label of the field.", "Proxy route"),
  declared: Schema.Unknown.annotations({ description: "Value in platform.json; null when there is none." }),
  live: Schema.Unknown.annotations({ description: "Present value; null when there is none." }),
  remedy: text("Why an upsert leaves it, and what to do.", "remove the route hello, and run the upsert again")
}).annotations({ identifier: "StayingDifference" })
export interface StayingDifference extends Schema.Schema.Type<typeof StayingDifference> {}

/** Plan of one step. */
export const PlanStep = Schema.Struct({
  step: text("The step's name.", "route"),
  will: Schema.Literal("change", "nothing", "skip").annotations({
    description: "`nothing`: what the step brings about is there already."
  }),
  detail: text("Planned action, or why there is none.", "add the route hello")
}).annotations({ identifier: "PlanStep" })
export interface PlanStep extends Schema.Schema.Type<typeof PlanStep> {}

/** Plan of an upsert. */
export const PlatformPlan = Schema.Struct({
  planHash: Schema.String.annotations({ description: "Sent with an upsert, it holds the upsert to this plan." }),
  appName: text("The name of the application.", "hello"),
  uuid: Schema.NullOr(Schema.String).annotations({ description: "Null while the application does not exist." }),
  action: Schema.Literal("create", "update", "none").annotations({ description: "`none`: nothing would change." }),
  changes: field(Schema.Array(PlanChange), "Everything that would be different afterwards."),
  stays: Schema.optional(Schema.Array(StayingDifference)).annotations({
    description: "Differences from platform.json that would remain; absent when there are none."
  }),
  steps: field(Schema.Array(PlanStep), "Planned action of each of the ten steps, in their order."),
  unknown: Schema.Array(Schema.String).annotations({ description: "Sources that could not be read, and why." }),
  warnings: texts("Warnings, which do not stop an upsert.")
}).annotations({ identifier: "PlatformPlan" })
export interface PlatformPlan extends Schema.Schema.Type<typeof PlatformPlan> {}

/** An upsert cannot be planned, because too much could not be read. */
export class PlanFailed extends Schema.TaggedError<PlanFailed>()("PlanFailed", {
  step: Schema.String,
  reason: Schema.String,
  status: Schema.Number
}) {
  override get message() {
    return `${this.reason} (an upsert would stop at ${this.step})`
  }
}

/** The upsert no longer matches its plan. */
export class PlanMoved extends Schema.TaggedError<PlanMoved>()("PlanMoved", {
  appName: Schema.String,
  moved: Schema.Array(Schema.String)
}) {
  readonly status = 409
  override get message() {
    return describeMovedFacts(`The plan of ${JSON.stringify(cut(this.appName))}`, this.moved)
  }
}
