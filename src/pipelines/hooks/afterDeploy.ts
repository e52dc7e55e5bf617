import { Clock, Duration, Effect, Either, Option } from "effect"
import { executeStep } from "../../services/runs/Steps.ts"
import type { StackHealth } from "../activation/health/awaitHealth.ts"
import type { Hooks } from "./Hooks.ts"
import { type HookedDeploy, runLocalHook } from "./localHooks.ts"

/**
 * Runs the hook after a deploy whose stack is healthy. If it fails, the new version counts as unhealthy, and
 * `onUnhealthy` applies.
 * @param release id of the new version, if the server recorded it
 */
export const runAfterDeploy = (
  deploy: HookedDeploy,
  hooks: Hooks | undefined,
  health: StackHealth,
  release: Option.Option<string>
) =>
  Effect.gen(function*() {
    if (hooks === undefined || hooks.afterDeploy.length === 0 || health.status !== "healthy") return health
    const variables = Option.match(release, { onNone: () => ({}), onSome: (id) => ({ BERTH_RELEASE: id }) })
    const since = yield* Clock.currentTimeMillis
    const outcome = yield* Effect.either(executeStep(
      "afterDeploy",
      runLocalHook(deploy, "afterDeploy", hooks.afterDeploy, hooks.timeout, variables),
      (detail) => detail
    ))
    if (Either.isRight(outcome)) return health
    const failed: StackHealth = {
      status: "unhealthy",
      complaints: `the hook afterDeploy failed: ${outcome.left.reason}`,
      unhealthy: [],
      waited: Duration.millis((yield* Clock.currentTimeMillis) - since)
    }
    return failed
  })
