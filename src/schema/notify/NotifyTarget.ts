import { type Effect, type Option, type Redacted, Schema } from "effect"
import { outboundUrlRefusal } from "../basics/outboundUrl.ts"
import type { SettingsInvalid, SettingUnresolved } from "../Settings.ts"

const saying = (words: string) => ({ message: () => ({ message: words, override: true }) })

/** Events that a target can subscribe to. */
export const NotifyEvent = Schema.Literal("failed", "unhealthy", "succeeded", "rolledBack", "drift")
export type NotifyEvent = typeof NotifyEvent.Type

/** Events of a list of targets, each at least once. */
export const NotifyEvents = Schema.NonEmptyArray(NotifyEvent).annotations(
  saying(`must be a list of ${NotifyEvent.literals.join(", ")}`)
)

/** Form in which a target receives a notification. */
export const NotifyFormat = Schema.Literal("json", "slack", "discord", "ntfy").annotations(
  saying("must be json, slack, discord or ntfy")
)
export type NotifyFormat = typeof NotifyFormat.Type

/** Name of a target: it stands in addresses and in headers. */
export const NotifyName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, {
    message: () => "must be a name of up to 64 letters, digits, dots, hyphens and underscores"
  })
)

/** Address of a target. Those of chat services let everybody post who knows them, so that all of them are secrets. */
export const NotifyUrl = Schema.Redacted(Schema.String.pipe(Schema.filter((text) => outboundUrlRefusal(text) ?? true)))

/** Address and secret of a target. */
export interface NotifyAccess {
  readonly url: Redacted.Redacted
  readonly secret: Option.Option<Redacted.Redacted>
}

/** Subscription of the settings to events. */
export interface NotifyTarget {
  readonly name: string
  readonly events: ReadonlyArray<NotifyEvent>
  readonly format: NotifyFormat
  /** Resolved at each use; fails where a reference leads nowhere. */
  readonly access: Effect.Effect<NotifyAccess, SettingsInvalid | SettingUnresolved>
}
