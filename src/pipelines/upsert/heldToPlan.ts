import { Effect, Schema } from "effect"
import type { PlanMoved } from "../../schema/PlatformPlan.ts"
import { UpsertFailed, type UpsertRequest } from "../../schema/Upsert.ts"
import { once, type Steps } from "../../services/runs/Steps.ts"
import type { PlanServices } from "./plan/decide.ts"
import { checkPlan } from "./plan/plan.ts"

/**
 * Makes sure that nothing has moved since the plan that an upsert is held to. Once in a run: an attempt that goes on
 * after a restart has changed some of it itself.
 */
export const heldToPlan = (
  { planHash, ...request }: UpsertRequest
): Effect.Effect<void, PlanMoved | UpsertFailed, PlanServices | Steps> =>
  planHash === undefined || planHash === null
    ? Effect.void
    : once("plan", Schema.Literal("holds"), () => Effect.as(checkPlan(request, planHash), "holds" as const)).pipe(
      Effect.mapError((error) =>
        error._tag === "PlanMoved"
          ? error
          : error._tag === "PlanFailed"
          ? new UpsertFailed({ step: error.step, reason: error.reason })
          : new UpsertFailed({ step: "config", reason: error.message })
      )
    )
