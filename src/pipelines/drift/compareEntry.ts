import { Effect, Option } from "effect"
import { changelogFileName } from "../../schema/Changelog.ts"
import type { PlatformRecord } from "../../schema/PlatformApp.ts"
import type { DeclaredApp } from "../../schema/PlatformFile.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { type AppPlan, planOf } from "../applications/appPlan.ts"
import { lastApplied } from "../applications/changelog.ts"
import { updateFields } from "../applications/changes.ts"
import { driftDiffs } from "../applications/driftDiffs.ts"
import { declaredIn, withoutPlaces } from "../applications/platformFile.ts"

/** What an entry wants an application to be, for the platform to word its record after. */
export const wantedBy = (plan: AppPlan) => ({
  ...updateFields(plan),
  ...Option.match(plan.domain, { onNone: () => ({}), onSome: (domain) => ({ fqdn: `https://${domain}` }) })
})

/** What the last upsert of an application applied; nothing when the changelog does not tell, or not so that it fits. */
const appliedPlan = (projectPath: string, name: string) =>
  Effect.gen(function*() {
    const snapshot = yield* yield* lastApplied(projectPath, name)
    return yield* planOf(projectPath, yield* declaredIn(withoutPlaces(changelogFileName))(snapshot, 0))
  }).pipe(Effect.option)

/** Compares a record of the platform with an entry of `platform.json`, and with what the last upsert applied. */
export const compareEntry = Effect.fn("compareEntry")(function*(
  projectPath: string,
  declared: DeclaredApp,
  record: PlatformRecord
) {
  const platform = yield* Platform
  const plan = yield* planOf(projectPath, declared)
  const before = yield* appliedPlan(projectPath, record.name)
  // Asked together, the two are one call: a record is worded after what it is compared with.
  const [app, applied] = yield* Effect.all([
    platform.declared(record, wantedBy(plan)),
    Effect.transposeMapOption(
      before,
      (earlier) => Effect.map(platform.declared(record, wantedBy(earlier)), (app) => ({ plan: earlier, app }))
    )
  ], { concurrency: 2 })
  const envs = yield* Effect.option(platform.envs(record.uuid))
  return { envs, ...driftDiffs(plan, app, envs, Option.getOrUndefined(applied)) }
})
