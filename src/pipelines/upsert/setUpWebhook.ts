import { Effect, Either, Option, Redacted, Schema } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { Locks } from "../../services/locks/Locks.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { durableStep, skip, type Steps } from "../../services/runs/Steps.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { ensureHook } from "../webhooks/pushHook.ts"

/** The configured secret of push events; nothing where none is set. */
export const webhookSecret: Effect.Effect<Option.Option<Redacted.Redacted>, SettingsError, Settings> = Effect.flatMap(
  Settings,
  (settings) => Effect.map(settings.find("gitHost.webhookSecret"), Option.filter((text) => Redacted.value(text) !== ""))
)

/** Why there is no webhook to set up. */
export const noWebhookSecret = "no webhook secret is configured: set gitHost.webhookSecret to deploy on push"

/**
 * Upsert step 10: makes pushes deploy the application. Whatever goes wrong here is a warning in the step's detail: the
 * application is deployed by now.
 */
export const setUpWebhook = Effect.fn("setUpWebhook")(function*(
  { repository }: AppPlan,
  uuid: string
): Effect.fn.Return<void, never, GitHost | Locks | Platform | Settings | Steps> {
  const platform = yield* Platform
  const secret = yield* Effect.either(webhookSecret)
  if (Either.isRight(secret) && Option.isNone(secret.right)) {
    return yield* skip("webhook", noWebhookSecret)
  }
  const done = Effect.gen(function*() {
    const value = yield* Effect.flatten(secret)
    yield* platform.setWebhookSecret(uuid, value)
    return yield* ensureHook(repository, yield* platform.webhookUrlOf(uuid), value)
  })
  const warned = Effect.catchAll(
    done,
    (error) => Effect.succeed(`Warning: the webhook could not be set up: ${error.message}`)
  )
  yield* durableStep("webhook", Schema.String, () => warned, (detail) => detail)
})
