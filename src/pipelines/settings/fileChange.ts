import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff"
import type { SettingsChanged } from "../../schema/settings/SettingsList.ts"
import type { ChangedText } from "../../services/settings/values/maskedText.ts"

/** A change of the settings file as callers see it. */
export const fileChange = (file: string, { after, before }: ChangedText): SettingsChanged => {
  if (before === after) return { file, changed: false, diff: "" }
  const diff = createTwoFilesPatch(file, file, before, after, undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY
  })
  return { file, changed: true, diff }
}
