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
import { shownJson, shownText } from "../../services/secrets/shownText.ts"
import { changedFacts } from "../plans/changedFacts.ts"
import { planHash } from "../plans/planHash.ts"
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

/** Decides again; fails if something has moved since the plan with this hash. */
export const checkUpsertPlan = Effect.fn("checkUpsertPlan")(function*(
  request: AppRequest,
  hash: string
) {
  const { decisions, facts, plan, planned } = yield* decideUpsert(request)
  const moved = changedFacts(upsertFacts, hash, facts, yield* planHashDigest)
  if (moved.length === 0) return { decisions, planned }
  const secrets = yield* secretsInUse
  return yield* new PlanMoved({ appName: plan.appName, moved: moved.map((words) => shownText(words, secrets)) })
})
