import { Effect, Option } from "effect"
import type { AppRequest } from "../../schema/applications/Drift.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { type PlanBinding, unbound } from "./PlanBinding.ts"
import { upsertSteps } from "./upsertSteps.ts"

/**
 * Creates or updates a declared application, with its port, route, deployment and webhook. Steps and order of calls
 * follow the specification; each step depends only on earlier results.
 * @param binding decisions to execute; a step without one reads and decides when it is reached
 */
export const upsertApp = Effect.fn("upsertApp")(function*(
  request: AppRequest,
  binding: PlanBinding = unbound
) {
  const step = yield* upsertSteps(request, binding)
  const plan = yield* step.config
  const target = yield* step.server(plan)
  const check = yield* step.check(plan)
  yield* step.validate(check)
  const uuid = yield* step.sync(plan, target, check)
  const synced = { plan, target, check, uuid }
  const env = yield* step.env(synced)
  const route = yield* step.route(synced, env.change)
  const changes = [...check.updates, ...Option.toArray(env.change), ...Option.toArray(route.change)]
  const changelogEntry = yield* step.changelog(synced, changes)
  yield* step.deploy(synced)
  yield* step.webhook(synced)

  const domain = Option.getOrElse(plan.domain, () => "")
  return { success: true, uuid, domain, changelogEntry, steps: yield* (yield* Steps).all }
})
