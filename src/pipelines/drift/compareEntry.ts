import { Effect, Option } from "effect"
import { changelogFileName } from "../../schema/applications/Changelog.ts"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import type { DeclaredApp } from "../../schema/applications/PlatformFile.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { type AppPlan, planEntry } from "../applications/appPlan.ts"
import { findLastApplied } from "../applications/changelog.ts"
import { buildUpdateFields } from "../applications/changes.ts"
import { computeDriftDiffs } from "../applications/computeDriftDiffs.ts"
import { makeUnplacedSource, readDeclaredEntry } from "../applications/platformFile.ts"

/** Declared values; the record adopts their spelling if the platform means the same by its own. */
export const buildDeclaredValues = (plan: AppPlan) => ({
  ...buildUpdateFields(plan),
  ...Option.match(plan.domain, { onNone: () => ({}), onSome: (domain) => ({ fqdn: `https://${domain}` }) })
})

/** Plan that the last upsert applied; none if the changelog has no valid entry of it. */
const appliedPlan = (projectPath: string, name: string) =>
  Effect.gen(function*() {
    const snapshot = yield* yield* findLastApplied(projectPath, name)
    return yield* planEntry(projectPath, yield* readDeclaredEntry(makeUnplacedSource(changelogFileName))(snapshot, 0))
  }).pipe(Effect.option)

/** Compares a record of the platform with an entry of `platform.json`, and with what the last upsert applied. */
export const compareEntry = Effect.fn("compareEntry")(function*(
  projectPath: string,
  declared: DeclaredApp,
  record: PlatformRecord
) {
  const platform = yield* Platform
  const plan = yield* planEntry(projectPath, declared)
  const before = yield* appliedPlan(projectPath, record.name)
  // Identical concurrent reads share one call; each result adopts the spelling of the values that it is compared with.
  const [app, applied] = yield* Effect.all([
    platform.declared(record, buildDeclaredValues(plan)),
    Effect.transposeMapOption(
      before,
      (earlier) =>
        Effect.map(platform.declared(record, buildDeclaredValues(earlier)), (app) => ({ plan: earlier, app }))
    )
  ], { concurrency: 2 })
  const envs = yield* Effect.option(platform.envs(record.uuid))
  return { envs, ...computeDriftDiffs(plan, app, envs, Option.getOrUndefined(applied)) }
})
