import { Effect, Option, Ref, Schema } from "effect"
import type { PlanMoved } from "../../schema/PlatformPlan.ts"
import { UpsertFailed, type UpsertRequest } from "../../schema/Upsert.ts"
import { once, type Steps } from "../../services/runs/Steps.ts"
import { Planned } from "./agreed.ts"
import { type Decisions, type Held, notHeld } from "./Held.ts"
import type { Decided, PlanServices } from "./plan/decide.ts"
import { checkPlan } from "./plan/plan.ts"

const failed = (step: string, reason: string) => new UpsertFailed({ step, reason })

/**
 * Reads and decides everything again, makes sure that nothing has moved since the plan that an upsert is held to, and
 * answers what was decided. Once in a run: an attempt that goes on after a restart has changed some of it itself, and
 * only what was planned for the steps before them is left of the decisions.
 */
export const heldToPlan = (
  { planHash, ...request }: UpsertRequest
): Effect.Effect<Held, PlanMoved | UpsertFailed, PlanServices | Steps> =>
  Effect.gen(function*() {
    if (planHash === undefined || planHash === null) return notHeld
    const decided = yield* Ref.make(Option.none<Pick<Decided, "decisions" | "planned">>())
    const check = checkPlan(request, planHash).pipe(
      Effect.tap((answer) => Ref.set(decided, Option.some(answer))),
      Effect.as("holds" as const),
      Effect.mapError((error) =>
        error._tag === "PlanMoved"
          ? error
          : error._tag === "PlanFailed"
          ? failed(error.step, error.reason)
          : failed("config", error.message)
      )
    )
    yield* once("plan", Schema.Literal("holds"), () => check)
    const now = yield* Ref.get(decided)
    // Kept apart: words that are like a secret are not kept, and the plan is not to be compared again for that.
    const planned = yield* once(
      "planned",
      Planned,
      () => Effect.succeed(Option.match(now, { onNone: () => ({}), onSome: (answer) => answer.planned }))
    )
    return { decisions: Option.map(now, ({ decisions }): Decisions => decisions), planned }
  })
