import { Effect, Option, Redacted } from "effect"
import type { SettingsError } from "../../../schema/Settings.ts"
import { Settings } from "../../../services/settings/Settings.ts"
import { HookAction } from "../../webhooks/pushHook.ts"

/** Configured secret for push events; none if not set. */
export const webhookSecret: Effect.Effect<Option.Option<Redacted.Redacted>, SettingsError, Settings> = Effect.flatMap(
  Settings,
  (settings) => Effect.map(settings.find("gitHost.webhookSecret"), Option.filter((text) => Redacted.value(text) !== ""))
)

/** Reason to skip the step. */
export const noWebhookSecret = "no webhook secret is configured: set gitHost.webhookSecret to deploy on push"

/** Describes an action on the hook, for comparison with a plan. */
export const describeHookAction = HookAction.$match({
  Create: () => "create a webhook",
  Update: () => "update the webhook"
})
