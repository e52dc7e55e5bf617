import { Effect, Option, Ref, Schema } from "effect"
import type { PlanMoved } from "../../schema/applications/PlatformPlan.ts"
import { UpsertFailed, type UpsertRequest } from "../../schema/applications/Upsert.ts"
import { computeOnce, type Steps } from "../../services/runs/Steps.ts"
import type { DecidedUpsert, PlanServices } from "./decideUpsert.ts"
import { type Decisions, type PlanBinding, unbound } from "./PlanBinding.ts"
import { checkUpsertPlan } from "./planUpsert.ts"
import { PlannedSteps } from "./steps/matchesPlan.ts"

const failed = (step: string, reason: string) => new UpsertFailed({ step, reason })

/**
 * Decides again and fails if something has changed since the plan. Runs once per run: an attempt after a restart sees
 * its own changes, so only the descriptions of its steps bind it.
 */
export const bindToPlan = (
  { planHash, ...request }: UpsertRequest
): Effect.Effect<PlanBinding, PlanMoved | UpsertFailed, PlanServices | Steps> =>
  Effect.gen(function*() {
    if (planHash === undefined || planHash === null) return unbound
    const decided = yield* Ref.make(Option.none<Pick<DecidedUpsert, "decisions" | "planned">>())
    const check = checkUpsertPlan(request, planHash).pipe(
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
    yield* computeOnce("plan", Schema.Literal("holds"), () => check)
    const now = yield* Ref.get(decided)
    // Stored separately: descriptions that look like a secret are not stored, and this must not repeat the check.
    const planned = yield* computeOnce(
      "planned",
      PlannedSteps,
      () => Effect.succeed(Option.match(now, { onNone: () => ({}), onSome: (answer) => answer.planned }))
    )
    return { decisions: Option.map(now, ({ decisions }): Decisions => decisions), planned }
  })
