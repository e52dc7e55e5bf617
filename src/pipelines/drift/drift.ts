import { Array, Effect, Option } from "effect"
import type { AppRequest, Drift } from "../../schema/Drift.ts"
import type { PlatformFailure } from "../../schema/PlatformApp.ts"
import type { PathOutside, ProjectFileInvalid } from "../../schema/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { LocalFileFailed } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { entryNamed, readPlatformFile } from "../applications/platformFile.ts"
import { shownEntries } from "../applications/shownEntries.ts"
import { permitPath } from "../projects/permitPath.ts"
import { judge, type JudgeServices } from "./judge.ts"

const unlessEmpty = <K extends string, A>(key: K, all: ReadonlyArray<A>) => all.length === 0 ? {} : { [key]: all }

/**
 * Compares an application with what its project declares, and with what the last upsert applied; changes nothing. A
 * difference that the changelog knows the applied value of says which side has moved since.
 */
export const drift = Effect.fn("drift")(function*(
  { appName, projectPath }: AppRequest
): Effect.fn.Return<
  Drift,
  ProjectFileInvalid | PathOutside | LocalFileFailed | PlatformFailure | SettingsError,
  JudgeServices
> {
  yield* permitPath(projectPath)
  const apps = Option.getOrElse(yield* readPlatformFile(projectPath), () => [])
  const configs = yield* shownEntries(apps.map(({ raw }) => raw))
  const declared = entryNamed(apps, appName)
  if (Option.isNone(declared)) return { exists: false, diffs: [], configs }
  const { entry, raw, warnings } = declared.value
  const [appConfig = raw] = yield* shownEntries([raw])
  const told = unlessEmpty("warnings", warnings)

  const live = yield* (yield* Platform).applications
  const found = Array.findFirst(live, ({ name }) => name === entry.name)
  if (Option.isNone(found)) return { exists: false, diffs: [], appConfig, configs, ...told }
  const { name, uuid } = found.value
  const { diffs, hook, others, routes, unknown } = yield* judge(projectPath, declared.value, found.value, live)
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
    ...told
  }
}, withAnswerBudget)
