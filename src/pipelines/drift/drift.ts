import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { changelogFileName } from "../../schema/Changelog.ts"
import type { AppRequest, Drift } from "../../schema/Drift.ts"
import type { PlatformFailure } from "../../schema/PlatformApp.ts"
import type { ProjectFileInvalid } from "../../schema/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { findApplication } from "../applications/applications.ts"
import { type AppPlan, planOf } from "../applications/appPlan.ts"
import { lastApplied } from "../applications/changelog.ts"
import { updateFields } from "../applications/changes.ts"
import { declaredIn, entryNamed, readPlatformFile } from "../applications/platformFile.ts"
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
    return yield* planOf(projectPath, yield* declaredIn(changelogFileName)(snapshot, 0))
  }).pipe(Effect.option)

/**
 * Compares an application with what its project declares, and with what the last upsert applied; changes nothing. A
 * difference that the changelog knows the applied value of says which side has moved since. `find` is for who has listed
 * the applications already.
 */
export const drift = Effect.fn("drift")(function*(
  { appName, projectPath }: AppRequest,
  find: typeof findApplication = findApplication
): Effect.fn.Return<
  Drift,
  ProjectFileInvalid | LocalFileFailed | PlatformFailure | SettingsError,
  LocalFiles | Path.Path | Platform | Settings
> {
  const platform = yield* Platform
  const apps = Option.getOrElse(yield* readPlatformFile(projectPath), () => [])
  const configs = apps.map(({ raw }) => raw)
  const declared = entryNamed(apps, appName)
  if (Option.isNone(declared)) return { exists: false, diffs: [], configs }
  const { entry, raw, warnings } = declared.value
  const told = warnings.length === 0 ? {} : { warnings }

  const found = yield* find(entry.name)
  if (Option.isNone(found)) return { exists: false, diffs: [], appConfig: raw, configs, ...told }
  const { name, uuid } = found.value

  const plan = yield* planOf(projectPath, declared.value)
  const before = yield* appliedPlan(projectPath, name)
  // Asked together, the two are one call: a record is worded after what it is compared with.
  const [app, applied] = yield* Effect.all([
    platform.declared(found.value, wantedBy(plan)),
    Effect.transposeMapOption(
      before,
      (earlier) => Effect.map(platform.declared(found.value, wantedBy(earlier)), (app) => ({ plan: earlier, app }))
    )
  ], { concurrency: 2 })
  const envs = yield* Effect.option(platform.envs(uuid))
  const { diffs, unknown } = driftDiffs(plan, app, envs, Option.getOrUndefined(applied))
  return {
    exists: true,
    diffs,
    ...(unknown.length === 0 ? {} : { unknown }),
    app: { uuid, name },
    appConfig: raw,
    configs,
    ...told
  }
})
