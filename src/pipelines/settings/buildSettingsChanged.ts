import { Effect } from "effect"
import type { SettingsChanged } from "../../schema/settings/SettingsList.ts"
import { computeFilePatch } from "../../services/parsing/computeFilePatch.ts"
import type { ChangedText } from "../../services/settings/values/maskedText.ts"

/** A change of the settings file as callers see it. */
export const buildSettingsChanged = (file: string, { after, before }: ChangedText): Effect.Effect<SettingsChanged> =>
  before === after
    ? Effect.succeed({ file, changed: false, diff: "" })
    : Effect.map(computeFilePatch(file, before, after), (diff) => ({ file, changed: true, diff }))
