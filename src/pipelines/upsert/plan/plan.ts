import { Effect } from "effect"
import type { AppRequest } from "../../../schema/Drift.ts"
import { type PlanChange, type PlanFailed, PlanMoved, type PlatformPlan } from "../../../schema/PlatformPlan.ts"
import type { PathOutside } from "../../../schema/Project.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import { keyedDigest } from "../../../services/secrets/keyedDigest.ts"
import { secretsInUse } from "../../../services/secrets/secretsInUse.ts"
import { shownJson, shownText } from "../../../services/secrets/shownText.ts"
import { movedSince, planHash } from "../../plans/planHash.ts"
import { permitPath } from "../../projects/permitPath.ts"
import { decide, type Decided, type PlanServices } from "./decide.ts"
import { upsertFacts } from "./facts.ts"

/** What an upsert would do now, with a hash that holds a later upsert to it. Changes nothing anywhere. */
export const plan = Effect.fn("plan")(function*(
  request: AppRequest
): Effect.fn.Return<PlatformPlan, PlanFailed | PathOutside | SettingsError, PlanServices> {
  yield* permitPath(request.projectPath)
  const { facts, plan } = yield* decide(request)
  const digest = yield* keyedDigest
  const secrets = yield* secretsInUse
  const words = (texts: ReadonlyArray<string>) => texts.map((text) => shownText(text, secrets))
  const masked = (change: PlanChange): PlanChange => ({
    ...change,
    old: shownJson(change.old, secrets),
    new: shownJson(change.new, secrets)
  })
  return {
    planHash: planHash(upsertFacts, facts, digest),
    ...plan,
    changes: plan.changes.map(masked),
    ...(plan.stays === undefined ? {} : {
      stays: plan.stays.map((one) => ({
        ...one,
        declared: shownJson(one.declared, secrets),
        live: shownJson(one.live, secrets),
        remedy: shownText(one.remedy, secrets)
      }))
    }),
    steps: plan.steps.map((step) => ({ ...step, detail: shownText(step.detail, secrets) })),
    unknown: words(plan.unknown),
    warnings: words(plan.warnings)
  }
})

/**
 * Reads and decides everything again: fails where something is not as it was when a plan was made, and answers what was
 * decided.
 */
export const checkPlan = Effect.fn("checkPlan")(function*(
  request: AppRequest,
  hash: string
): Effect.fn.Return<Pick<Decided, "decisions" | "planned">, PlanFailed | PlanMoved | SettingsError, PlanServices> {
  const { decisions, facts, plan, planned } = yield* decide(request)
  const moved = movedSince(upsertFacts, hash, facts, yield* keyedDigest)
  if (moved.length === 0) return { decisions, planned }
  const secrets = yield* secretsInUse
  return yield* new PlanMoved({ appName: plan.appName, moved: moved.map((words) => shownText(words, secrets)) })
})
