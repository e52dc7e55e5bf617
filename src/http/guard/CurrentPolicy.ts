import { Context, Effect, Layer } from "effect"
import { Settings } from "../../services/settings/Settings.ts"
import { PrivateToken } from "../../services/state/discovery/PrivateToken.ts"
import type { GuardPolicy } from "./authorizeRequest.ts"

/** Policy of the guard, from the current settings. */
export class CurrentPolicy extends Context.Tag("berth/CurrentPolicy")<CurrentPolicy, {
  readonly now: Effect.Effect<GuardPolicy>
  /** At most a second old, so that many open streams share one read of the settings. */
  readonly recent: Effect.Effect<GuardPolicy>
}>() {}

/** The policy of the settings and this process's private token. */
export const CurrentPolicyLive = Layer.effect(
  CurrentPolicy,
  Effect.gen(function*() {
    const settings = yield* Settings
    const privateToken = yield* PrivateToken
    const now = Effect.map(settings.guard, (guard): GuardPolicy => ({ ...guard, privateToken }))
    // Uninterruptible: a stream that ends during the read must not fail others that wait for it.
    return { now, recent: yield* Effect.cachedWithTTL(Effect.uninterruptible(now), "1 second") }
  })
)
