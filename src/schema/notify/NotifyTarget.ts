import { type Effect, type Option, type Redacted, Schema } from "effect"
import { outboundUrlRefusal } from "../basics/outboundUrl.ts"
import type { SettingsInvalid, SettingUnresolved } from "../Settings.ts"

const saying = (words: string) => ({ message: () => ({ message: words, override: true }) })

/** Events that a target can subscribe to. */
export const NotifyEvent = Schema.Literal("failed", "unhealthy", "succeeded", "rolledBack", "drift")
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
export interface NotifyAccess {
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
