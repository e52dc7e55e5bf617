import { Effect, Either, Option, Redacted, Schema } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { Locks } from "../../services/locks/Locks.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { durableStep, skip, type Steps } from "../../services/runs/Steps.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { ensureHook, HookAction } from "../webhooks/pushHook.ts"
import { type Agreed, noWork } from "./agreed.ts"

/** The configured secret of push events; nothing where none is set. */
export const webhookSecret: Effect.Effect<Option.Option<Redacted.Redacted>, SettingsError, Settings> = Effect.flatMap(
  Settings,
  (settings) => Effect.map(settings.find("gitHost.webhookSecret"), Option.filter((text) => Redacted.value(text) !== ""))
)

/** Why there is no webhook to set up. */
export const noWebhookSecret = "no webhook secret is configured: set gitHost.webhookSecret to deploy on push"

/** What happens to the hook, in words by which it is compared with a plan. */
export const hookWords = HookAction.$match({
  Create: () => "create a webhook",
  Update: () => "update the webhook"
})

// A hook that is there by now was created by another application of the repository, or by an earlier attempt.
const agreedHook = (agreed: Agreed) => (action: HookAction) =>
  agreed(HookAction.$is("Update")(action) ? noWork : hookWords(action))

/**
 * Upsert step 10: makes pushes deploy the application. Whatever goes wrong here is a warning in the step's detail: the
 * application is deployed by now.
 */
export const setUpWebhook = Effect.fn("setUpWebhook")(function*(
  { repository }: AppPlan,
  uuid: string,
  agreed: Agreed
): Effect.fn.Return<void, never, GitHost | Locks | Platform | Settings | Steps> {
  const platform = yield* Platform
  const secret = yield* Effect.either(webhookSecret)
  if (Either.isRight(secret) && Option.isNone(secret.right)) {
    return yield* skip("webhook", noWebhookSecret)
  }
  const done = Effect.gen(function*() {
    const value = yield* Effect.flatten(secret)
    yield* platform.setWebhookSecret(uuid, value)
    return yield* ensureHook(repository, yield* platform.webhookUrlOf(uuid), value, agreedHook(agreed))
  })
  const warned = Effect.catchAll(
    done,
    (error) => Effect.succeed(`Warning: the webhook could not be set up: ${error.message}`)
  )
  yield* durableStep("webhook", Schema.String, () => warned, (detail) => detail)
})
