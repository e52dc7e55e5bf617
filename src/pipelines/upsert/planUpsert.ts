import { Effect } from "effect"
import type { AppRequest } from "../../schema/applications/Drift.ts"
import {
  type PlanChange,
  type PlanFailed,
  PlanMoved,
  type PlatformPlan
} from "../../schema/applications/PlatformPlan.ts"
import type { PathOutside } from "../../schema/projects/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { planHashDigest } from "../../services/secrets/planHashDigest.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { redactJson, redactText } from "../../services/secrets/shownText.ts"
import { changedFacts } from "../plans/changedFacts.ts"
import { computePlanHash } from "../plans/planHash.ts"
import { permitPath } from "../projects/files/permitPath.ts"
import { decideUpsert, type PlanServices } from "./decideUpsert.ts"
import { upsertFacts } from "./upsertFacts.ts"

/** Plans an upsert, with a hash that binds a later upsert to the plan. Read-only. */
export const planUpsert = Effect.fn("planUpsert")(function*(
  request: AppRequest
): Effect.fn.Return<PlatformPlan, PlanFailed | PathOutside | SettingsError, PlanServices> {
  yield* permitPath(request.projectPath)
  const { facts, plan } = yield* decideUpsert(request)
  const digest = yield* planHashDigest
  const secrets = yield* secretsInUse
  const words = (texts: ReadonlyArray<string>) => texts.map((text) => redactText(text, secrets))
  const masked = (change: PlanChange): PlanChange => ({
    ...change,
    old: redactJson(change.old, secrets),
    new: redactJson(change.new, secrets)
  })
  return {
    planHash: computePlanHash(upsertFacts, facts, digest),
    ...plan,
    changes: plan.changes.map(masked),
    ...(plan.stays === undefined ? {} : {
      stays: plan.stays.map((one) => ({
        ...one,
        declared: redactJson(one.declared, secrets),
        live: redactJson(one.live, secrets),
        remedy: redactText(one.remedy, secrets)
      }))
    }),
    steps: plan.steps.map((step) => ({ ...step, detail: redactText(step.detail, secrets) })),
    unknown: words(plan.unknown),
    warnings: words(plan.warnings)
  }
})

/** Decides again; fails if something has moved since the plan with this hash. */
export const checkUpsertPlan = Effect.fn("checkUpsertPlan")(function*(
  request: AppRequest,
  hash: string
) {
  const { decisions, facts, plan, planned } = yield* decideUpsert(request)
  const moved = changedFacts(upsertFacts, hash, facts, yield* planHashDigest)
  if (moved.length === 0) return { decisions, planned }
  const secrets = yield* secretsInUse
  return yield* new PlanMoved({ appName: plan.appName, moved: moved.map((words) => redactText(words, secrets)) })
})
