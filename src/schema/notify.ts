import { type Effect, type Option, type Redacted, Schema } from "effect"
import { outboundUrlRefusal } from "./basics.ts"
import { Run } from "./runs.ts"
import type { SettingsInvalid, SettingUnresolved } from "./settings.ts"
import { field, number, text, textOrNull } from "./validation.ts"
import { quoteInput, suggestNearest } from "./words.ts"

const saying = (words: string) => ({ message: () => ({ message: words, override: true }) })

/** Events that a target can subscribe to. */
export const NotifyEvent = Schema.Literal(
  "failed",
  "unhealthy",
  "succeeded",
  "rolledBack",
  "backupFailed",
  "backupOld",
  "drift"
)
export type NotifyEvent = typeof NotifyEvent.Type

/** Non-empty list of the events that a target subscribes to. */
export const NotifyEvents = Schema.NonEmptyArray(NotifyEvent).annotations(
  saying(`must be a list of ${NotifyEvent.literals.join(", ")}`)
)

/** Format of the notifications that a target receives. */
export const NotifyFormat = Schema.Literal("json", "slack", "discord", "ntfy").annotations(
  saying("must be json, slack, discord or ntfy")
)
export type NotifyFormat = typeof NotifyFormat.Type

/** Name of a target, restricted for use in URLs and headers. */
export const NotifyName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, {
    message: () => "must be a name of up to 64 letters, digits, dots, hyphens and underscores"
  })
)

/** Address of a target; always secret, because the URL of a chat webhook is enough to post. */
export const NotifyUrl = Schema.Redacted(Schema.String.pipe(Schema.filter((text) => outboundUrlRefusal(text) ?? true)))

/** Address and secret of a target. */
interface NotifyAccess {
  readonly url: Redacted.Redacted
  readonly secret: Option.Option<Redacted.Redacted>
}

/** Target in the settings, with the events that it subscribes to. */
export interface NotifyTarget {
  readonly name: string
  readonly events: ReadonlyArray<NotifyEvent>
  readonly format: NotifyFormat
  /** Resolved on each use; fails if a reference cannot be resolved. */
  readonly access: Effect.Effect<NotifyAccess, SettingsInvalid | SettingUnresolved>
}

/** Run of a notification, without its steps and its result. */
const NotifiedRun = Run.pick(
  "id",
  "kind",
  "subject",
  "state",
  "requestedBy",
  "requestedAt",
  "startedAt",
  "endedAt"
)
interface NotifiedRun extends Schema.Schema.Type<typeof NotifiedRun> {}

/** Drifting application of a notification. */
export const NotifiedDrift = Schema.Struct({
  projectPath: Schema.String,
  appName: Schema.String,
  differences: Schema.Number
})
export interface NotifiedDrift extends Schema.Schema.Type<typeof NotifiedDrift> {}

/** Stack of a notification whose last backup is too old. */
export interface NotifiedBackup {
  readonly server: string
  readonly remotePath: string
  /** Interval in which it is to be backed up, in milliseconds. */
  readonly every: number
  /** Time of the last backup that has every item, in milliseconds; none is null. */
  readonly last: number | null
}

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
