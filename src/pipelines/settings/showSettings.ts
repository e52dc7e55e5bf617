import { Effect } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { SettingsList } from "../../schema/settings/SettingsList.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { findChangeRefusal } from "./settingRights.ts"

/** Fetches all settings, with the reason if the caller may not change them. */
export const showSettings: Effect.Effect<SettingsList, SettingsError, Settings> = Effect.gen(function*() {
  const { file, list, listedTargets } = yield* Settings
  const settings = yield* Effect.forEach(
    yield* list,
    (setting) => Effect.map(findChangeRefusal(setting.name), (refusal) => ({ ...setting, refusal }))
  )
  return { file, settings, notify: yield* listedTargets }
}).pipe(Effect.withSpan("showSettings"))
