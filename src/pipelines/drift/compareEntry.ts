import { Effect, Option } from "effect"
import { changelogFileName } from "../../schema/applications/Changelog.ts"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import type { DeclaredApp } from "../../schema/applications/PlatformFile.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { type AppPlan, planOf } from "../applications/appPlan.ts"
import { lastApplied } from "../applications/changelog.ts"
import { updateFields } from "../applications/changes.ts"
import { driftDiffs } from "../applications/driftDiffs.ts"
import { declaredIn, withoutPlaces } from "../applications/platformFile.ts"

/** Declared values, whose spelling the record adopts where the platform means the same. */
export const wantedBy = (plan: AppPlan) => ({
  ...updateFields(plan),
  ...Option.match(plan.domain, { onNone: () => ({}), onSome: (domain) => ({ fqdn: `https://${domain}` }) })
})

/** Plan that the last upsert applied; none if the changelog has no valid entry of it. */
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
  // Identical concurrent reads share one call; each adopts the spelling of what it is compared with.
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
