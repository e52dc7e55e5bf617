import { Schema } from "effect"
import { field, text, texts } from "./described.ts"
import { cut } from "./quoted.ts"

const planHashWords = "must be the planHash of a plan, as it was answered"

/** What a plan was made from and what it decided, as one word: it fits for as long as none of that moves. */
export const PlanHash = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9_-]{20,1000}$/, { message: () => planHashWords })
)

/** One thing that an upsert would make different. A secret is shown as `***`. */
export const PlanChange = Schema.Struct({
  target: Schema.Literal("application", "variable", "route", "hook", "deployment", "changelog").annotations({
    description: "What would be changed."
  }),
  field: text("Which part of it.", "git_branch"),
  label: text("The same for a person to read.", "Branch"),
  old: Schema.Unknown.annotations({ description: "What is there now; null when nothing is." }),
  new: Schema.Unknown.annotations({ description: "What would be there then." })
}).annotations({ identifier: "PlanChange" })
export interface PlanChange extends Schema.Schema.Type<typeof PlanChange> {}

/** One thing that differs from what is declared, and that an upsert leaves as it is. */
export const StayingDifference = Schema.Struct({
  target: Schema.Literal("application", "variable", "route", "hook").annotations({ description: "What differs." }),
  field: text("Which part of it.", "url"),
  label: text("The same for a person to read.", "Proxy route"),
  declared: Schema.Unknown.annotations({ description: "What platform.json asks for; null when it asks for nothing." }),
  live: Schema.Unknown.annotations({ description: "What is there; null when nothing is." }),
  remedy: text("Why an upsert leaves it, and what to do.", "remove the route hello, and run the upsert again")
}).annotations({ identifier: "StayingDifference" })
export interface StayingDifference extends Schema.Schema.Type<typeof StayingDifference> {}

/** What one step of an upsert would do. */
export const PlanStep = Schema.Struct({
  step: text("The step's name.", "route"),
  will: Schema.Literal("change", "nothing", "skip").annotations({
    description: "`nothing`: what the step brings about is there already."
  }),
  detail: text("What it would do, or why not.", "add the route hello")
}).annotations({ identifier: "PlanStep" })
export interface PlanStep extends Schema.Schema.Type<typeof PlanStep> {}

/** What an upsert would do now. */
export const PlatformPlan = Schema.Struct({
  planHash: Schema.String.annotations({ description: "Sent with an upsert, it holds the upsert to this plan." }),
  appName: text("The name of the application.", "hello"),
  uuid: Schema.NullOr(Schema.String).annotations({ description: "Null while the application does not exist." }),
  action: Schema.Literal("create", "update", "none").annotations({ description: "`none`: nothing would change." }),
  changes: field(Schema.Array(PlanChange), "Everything that would be different afterwards."),
  stays: Schema.optional(Schema.Array(StayingDifference)).annotations({
    description: "What would still differ from platform.json afterwards; absent when nothing would."
  }),
  steps: field(Schema.Array(PlanStep), "What each of the ten steps would do, in their order."),
  unknown: Schema.Array(Schema.String).annotations({ description: "What could not be read, and why." }),
  warnings: texts("What does not stop an upsert, and is worth knowing.")
}).annotations({ identifier: "PlatformPlan" })
export interface PlatformPlan extends Schema.Schema.Type<typeof PlatformPlan> {}

/** Too little could be read to plan an upsert. */
export class PlanFailed extends Schema.TaggedError<PlanFailed>()("PlanFailed", {
  step: Schema.String,
  reason: Schema.String,
  status: Schema.Number
}) {
  override get message() {
    return `${this.reason} (an upsert would stop at ${this.step})`
  }
}

const mostMoved = 10

/** What to do about a plan that no longer holds. */
export const planAgain = "Make a new plan, and send its planHash"

/** The message of a plan that no longer holds, and of what moved since. */
export const movedWords = (plan: string, moved: ReadonlyArray<string>): string => {
  const others = moved.length - mostMoved
  const told = moved.slice(0, mostMoved).map(cut).join("; ") + (others > 0 ? `; and ${others} more` : "")
  return `${plan} no longer holds: ${told}. Nothing was changed. ${planAgain}`
}

/** What an upsert would do is not what was planned. */
export class PlanMoved extends Schema.TaggedError<PlanMoved>()("PlanMoved", {
  appName: Schema.String,
  moved: Schema.Array(Schema.String)
}) {
  readonly status = 409
  override get message() {
    return movedWords(`The plan of ${JSON.stringify(cut(this.appName))}`, this.moved)
  }
}
