import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { changelogFileName } from "../../schema/Changelog.ts"
import type { AppRequest, Drift } from "../../schema/Drift.ts"
import type { PlatformFailure, PlatformRecord } from "../../schema/PlatformApp.ts"
import type { DeclaredApp } from "../../schema/PlatformFile.ts"
import type { PathOutside, ProjectFileInvalid } from "../../schema/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { shownJson } from "../../services/secrets/shownText.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { findApplication } from "../applications/applications.ts"
import { type AppPlan, planOf } from "../applications/appPlan.ts"
import { lastApplied } from "../applications/changelog.ts"
import { updateFields } from "../applications/changes.ts"
import { declaredIn, entryNamed, readPlatformFile, withoutPlaces } from "../applications/platformFile.ts"
import { shownEntries } from "../applications/shownEntries.ts"
import { permitPath } from "../projects/permitPath.ts"
import { driftDiffs } from "./driftDiffs.ts"

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
  return driftDiffs(plan, app, envs, Option.getOrUndefined(applied))
})

/**
 * Compares an application with what its project declares, and with what the last upsert applied; changes nothing. A
 * difference that the changelog knows the applied value of says which side has moved since.
 */
export const drift = Effect.fn("drift")(function*(
  { appName, projectPath }: AppRequest
): Effect.fn.Return<
  Drift,
  ProjectFileInvalid | PathOutside | LocalFileFailed | PlatformFailure | SettingsError,
  LocalFiles | Path.Path | Platform | Settings
> {
  yield* permitPath(projectPath)
  const apps = Option.getOrElse(yield* readPlatformFile(projectPath), () => [])
  const configs = yield* shownEntries(apps.map(({ raw }) => raw))
  const declared = entryNamed(apps, appName)
  if (Option.isNone(declared)) return { exists: false, diffs: [], configs }
  const { entry, raw, warnings } = declared.value
  const [appConfig = raw] = yield* shownEntries([raw])
  const told = warnings.length === 0 ? {} : { warnings }

  const found = yield* findApplication(entry.name)
  if (Option.isNone(found)) return { exists: false, diffs: [], appConfig, configs, ...told }
  const { name, uuid } = found.value
  const { diffs, unknown } = yield* compareEntry(projectPath, declared.value, found.value)
  const secrets = yield* secretsInUse
  return {
    exists: true,
    diffs: diffs.map((diff) => ({ ...diff, remote: shownJson(diff.remote, secrets) })),
    ...(unknown.length === 0 ? {} : { unknown }),
    app: { uuid, name },
    appConfig,
    configs,
    ...told
  }
})
