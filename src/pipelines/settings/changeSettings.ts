import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type {
  SettingForbidden,
  SettingRefused,
  SettingsChange,
  SettingsChanged
} from "../../schema/settings/SettingsList.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { buildSettingsChanged } from "./buildSettingsChanged.ts"
import { inspectRoot } from "./inspectRoot.ts"

const rootSetting = "projects.root"

/** Changes individual settings in the file, or only returns the diff. */
export const changeSettings = Effect.fn("changeSettings")(function*(
  change: SettingsChange,
  isPlan: boolean
): Effect.fn.Return<
  SettingsChanged,
  SettingForbidden | SettingRefused | SettingsError | LocalFileFailed,
  Settings | LocalFiles | Path.Path
> {
  const { settings: values, createDirectory = false } = change
  const settings = yield* Settings
  // Do not create the file for a change that is then rejected.
  const planned = yield* settings.planChange(values)
  const root = Object.hasOwn(values, rootSetting)
    ? yield* inspectRoot(values[rootSetting] ?? null, createDirectory && !isPlan)
    : Option.none()
  const changed = isPlan ? planned : yield* settings.changeSettings(values)
  return {
    ...yield* buildSettingsChanged(settings.file, changed),
    ...(Option.isSome(root) ? { projectsRoot: root.value } : {})
  }
})
