import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import type { AppRequest, Drift } from "../../schema/applications/Drift.ts"
import type { PlatformFailure } from "../../schema/applications/PlatformApp.ts"
import type { PathOutside, ProjectFileInvalid } from "../../schema/projects/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { LocalFileFailed } from "../../services/local/LocalFiles.ts"
import { reportDrift } from "../../services/notify/reportDrift.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { maskEntries } from "../applications/maskEntries.ts"
import { findEntry, readPlatformFile } from "../applications/platformFile.ts"
import { permitPath } from "../projects/files/permitPath.ts"
import { detectDrift, type DriftServices } from "./detectDrift.ts"

const unlessEmpty = <K extends string, A>(key: K, all: ReadonlyArray<A>) => all.length === 0 ? {} : { [key]: all }

/**
 * Compares an application with its declaration and with what the last upsert applied; changes nothing. A difference
 * says which side has changed since, if the changelog has the applied value.
 */
export const drift = Effect.fn("drift")(function*(
  { appName, projectPath }: AppRequest
): Effect.fn.Return<
  Drift,
  ProjectFileInvalid | PathOutside | LocalFileFailed | PlatformFailure | SettingsError,
  DriftServices
> {
  yield* permitPath(projectPath)
  const apps = Option.getOrElse(yield* readPlatformFile(projectPath), () => [])
  const configs = yield* maskEntries(apps.map(({ raw }) => raw))
  const declared = findEntry(apps, appName)
  if (Option.isNone(declared)) return { exists: false, diffs: [], configs }
  const { entry, raw, warnings } = declared.value
  const [appConfig = raw] = yield* maskEntries([raw])
  const warned = unlessEmpty("warnings", warnings)

  const live = yield* (yield* Platform).applications
  const found = Array.findFirst(live, ({ name }) => name === entry.name)
  if (Option.isNone(found)) return { exists: false, diffs: [], appConfig, configs, ...warned }
  const { name, uuid } = found.value
  const judged = yield* detectDrift(projectPath, declared.value, found.value, live)
  const { diffs, hook, others, routes, unknown } = judged
  // Resolved, because another spelling of the same path must not count as new drift.
  const directory = (yield* Path.Path).resolve(projectPath)
  yield* reportDrift({ projectPath: directory, appName: name }, judged)
  return {
    exists: true,
    diffs,
    ...unlessEmpty("routes", routes),
    ...unlessEmpty("hook", hook),
    ...unlessEmpty("others", others),
    ...unlessEmpty("unknown", unknown),
    app: { uuid, name },
    appConfig,
    configs,
    ...warned
  }
}, withAnswerBudget)
