import { Effect, Either, Option, Schema } from "effect"
import type { GitHost } from "../../../services/githost/GitHost.ts"
import type { Locks } from "../../../services/locks/Locks.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import { executeDurableStep, skipStep, type Steps } from "../../../services/runs/Steps.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { ensureHook, HookAction } from "../../webhooks/pushHook.ts"
import { type MatchesPlan, noChange } from "../steps/matchesPlan.ts"
import { describeHookAction, noWebhookSecret, webhookSecret } from "./webhookSecret.ts"

// An existing hook matches a planned creation: another application of the repository, or an earlier attempt, has
// created it.
const matchesHookPlan = (matches: MatchesPlan) => (action: HookAction) =>
  matches(HookAction.$is("Update")(action) ? noChange : describeHookAction(action))

/**
 * Upsert step 10: makes pushes deploy the application. A failure is only a warning in the step's detail, because the
 * application is already deployed.
 */
export const applyWebhook = Effect.fn("applyWebhook")(function*(
  { repository }: AppPlan,
  uuid: string,
  matches: MatchesPlan
): Effect.fn.Return<void, never, GitHost | Locks | Platform | Settings | Steps> {
  const platform = yield* Platform
  const secret = yield* Effect.either(webhookSecret)
  if (Either.isRight(secret) && Option.isNone(secret.right)) {
    return yield* skipStep("webhook", noWebhookSecret)
  }
  const done = Effect.gen(function*() {
    const value = yield* Effect.flatten(secret)
    yield* platform.setWebhookSecret(uuid, value)
    return yield* ensureHook(repository, yield* platform.webhookUrlOf(uuid), value, matchesHookPlan(matches))
  })
  const warned = Effect.catchAll(
    done,
    (error) => Effect.succeed(`Warning: the webhook could not be set up: ${error.message}`)
  )
  yield* executeDurableStep("webhook", Schema.String, () => warned, (detail) => detail)
})
