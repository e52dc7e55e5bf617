import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { AppRequest, Drift } from "../../schema/Drift.ts"
import type { PlatformFailure } from "../../schema/PlatformApp.ts"
import type { ProjectFileInvalid } from "../../schema/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { findApplication } from "../applications/applications.ts"
import { planOf } from "../applications/appPlan.ts"
import { updateFields } from "../applications/changes.ts"
import { entryNamed, readPlatformFile } from "../applications/platformFile.ts"
import { driftDiffs } from "./driftDiffs.ts"

/** Compares an application with what its project declares; changes nothing. */
export const drift = Effect.fn("drift")(function*(
  { appName, projectPath }: AppRequest
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

  const found = yield* findApplication(entry.name)
  if (Option.isNone(found)) return { exists: false, diffs: [], appConfig: raw, configs, ...told }
  const { name, uuid } = found.value

  const plan = yield* planOf(projectPath, declared.value)
  const fqdn = Option.match(plan.domain, { onNone: () => ({}), onSome: (domain) => ({ fqdn: `https://${domain}` }) })
  const app = yield* platform.declared(found.value, { ...updateFields(plan), ...fqdn })
  const envs = yield* Effect.option(platform.envs(uuid))
  const { diffs, unknown } = driftDiffs(plan, app, envs)
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
