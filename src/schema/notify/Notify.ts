import { Schema } from "effect"
import { Run } from "../runs/Run.ts"
import { field, number, text, textOrNull } from "../words/describedFields.ts"
import { suggestNearest } from "../words/nearest.ts"
import { quoteInput } from "../words/quoted.ts"
import { NotifyEvent } from "./NotifyTarget.ts"

/** Run of a notification, without its steps and its result. */
export const NotifiedRun = Run.pick(
  "id",
  "kind",
  "subject",
  "state",
  "requestedBy",
  "requestedAt",
  "startedAt",
  "endedAt"
)
export interface NotifiedRun extends Schema.Schema.Type<typeof NotifiedRun> {}

/** Drifting application of a notification. */
export const NotifiedDrift = Schema.Struct({
  projectPath: Schema.String,
  appName: Schema.String,
  differences: Schema.Number
})
export interface NotifiedDrift extends Schema.Schema.Type<typeof NotifiedDrift> {}

/** Notification as sent in the format json. */
export const NotifyMessage = Schema.Struct({
  /** The same for every attempt, so that a receiver can detect duplicates. */
  id: Schema.String,
  event: Schema.Literal(...NotifyEvent.literals, "test"),
  time: Schema.String,
  title: Schema.String,
  text: Schema.String,
  run: Schema.NullOr(NotifiedRun),
  drift: Schema.NullOr(NotifiedDrift)
})
export interface NotifyMessage extends Schema.Schema.Type<typeof NotifyMessage> {}

/** Result of a test notification. */
export const NotifyTested = Schema.Struct({
  name: text("The name of the target.", "team"),
  format: text("Its format.", "slack"),
  status: number("HTTP status with which the receiver answered.", 200),
  milliseconds: number("Time that it took.", 120)
}).annotations({ identifier: "NotifyTested" })
export interface NotifyTested extends Schema.Schema.Type<typeof NotifyTested> {}

/** Notification target in lists, without its address and secret. */
export const ListedTarget = Schema.Struct({
  name: text("Its name.", "team"),
  format: text("Format of its notifications.", "slack"),
  events: Schema.Array(NotifyEvent).annotations({ description: "Events that are sent to it." }),
  line: field(Schema.Number, "Its line in the file, counted from 1."),
  problem: textOrNull("Reason why it cannot be used; else null.")
}).annotations({ identifier: "NotifyTarget" })
export interface ListedTarget extends Schema.Schema.Type<typeof ListedTarget> {}

/** The settings have no target of this name. */
export class NotifyTargetUnknown extends Schema.TaggedError<NotifyTargetUnknown>()("NotifyTargetUnknown", {
  name: Schema.String,
  names: Schema.Array(Schema.String)
}) {
  readonly status = 404
  override get message() {
    const known = this.names.length === 0
      ? " The settings name none: add a list notify"
      : ` Known ones: ${this.names.join(", ")}`
    return `notify has no target named ${quoteInput(this.name)}.${suggestNearest(this.name, this.names)}${known}`
  }
}

/** A receiver rejected a notification. */
export class NotifyFailed extends Schema.TaggedError<NotifyFailed>()("NotifyFailed", {
  name: Schema.String,
  reason: Schema.String,
  /** Delay that the receiver asks for, in milliseconds. */
  pause: Schema.optional(Schema.Number)
}) {
  readonly status = 502
  override get message() {
    return `${this.name} was not told: ${this.reason}`
  }
}
