import { Effect, Either, Option, Record } from "effect"
import { settingDefinitions, type SettingName, SettingsInvalid } from "../../../schema/Settings.ts"
import { type SettingJson, SettingRefused } from "../../../schema/settings/SettingsList.ts"
import { suggestNearest } from "../../../schema/words/nearest.ts"
import { cut } from "../../../schema/words/quoted.ts"
import type { Edited, SettingsStore, Snapshot } from "../file/SettingsStore.ts"
import { hasReference } from "../read/reference.ts"
import { parseSettingsDocument } from "../read/settingsDocument.ts"
import { decodeWritten, definitions, type Scalar, type UnresolvedValue } from "../read/settingValue.ts"
import { type ChangedText, maskSettingsChange } from "./maskedText.ts"
import type { SettingChanges } from "./settingRights.ts"
import { editSetting } from "./settingText.ts"

const scalarOf = (value: string | number | boolean): Scalar => ({ value, text: String(value) })
const isMany = (value: SettingJson): value is ReadonlyArray<string> => Array.isArray(value)
const isSettingName = (name: string): name is SettingName => Object.hasOwn(settingDefinitions, name)

/**
 * Converts a string to the number or boolean that it spells, if the setting accepts only that. Command lines send
 * strings.
 */
const typed = (name: string, value: SettingJson): SettingJson => {
  if (typeof value !== "string" || !isSettingName(name)) return value
  const fits = (candidate: unknown) => {
    const decoded: Either.Either<unknown, unknown> = definitions[name].decode(candidate)
    return Either.isRight(decoded)
  }
  if (fits(value)) return value
  const spelled = value === "true" || value === "false" ? value === "true" : Number(value)
  return /^(?:true|false|-?\d{1,15}(?:\.\d{1,15})?)$/.test(value) && fits(spelled) ? spelled : value
}

/** Validates a new value like the values of the file; references are resolved only on use. */
const check = (name: string, value: SettingJson) => {
  if (!isSettingName(name)) {
    const reason = `is not a setting.${suggestNearest(name, Record.keys(settingDefinitions))}`
    return Effect.fail(new SettingRefused({ setting: cut(name), reason }))
  }
  if (value === null) return Effect.void
  const written: UnresolvedValue = isMany(value) ? value.map(scalarOf) : scalarOf(value)
  const texts = isMany(value) ? value : [String(value)]
  if (texts.some(hasReference)) return Effect.void
  const decoded: Either.Either<unknown, string> = decodeWritten<unknown>(definitions[name].decode, written)
  return Either.match(decoded, {
    onLeft: (reason) => Effect.fail(new SettingRefused({ setting: name, reason })),
    onRight: () => Effect.void
  })
}

/** Loaded with the first change, not at the start. */
const loadRights = Effect.promise(() => import("./settingRights.ts"))

/** Writes single settings to the settings file. */
export const makeSettingWriter = ({ change, current, file }: SettingsStore) => {
  const edited = (changes: SettingChanges) => ({ document, text }: Snapshot) =>
    Effect.gen(function*() {
      const written = yield* document
      const { permitSettings } = yield* loadRights
      yield* permitSettings(written, written, changes)
      yield* Effect.forEach(Object.entries(changes), ([name, value]) => check(name, value), { discard: true })
      let after = text
      for (const [name, value] of Object.entries(changes)) {
        const reason = "cannot be changed by Berth without risk to the rest of the file: change it by hand"
        after = yield* Effect.mapError(
          editSetting(after, name, typed(name, value)),
          () => new SettingsInvalid({ file, line: null, setting: name, reason })
        )
      }
      yield* permitSettings(written, yield* parseSettingsDocument(file, after), changes)
      const isNew = Object.keys(changes).filter((name) => changes[name] !== null)
      const answer = maskSettingsChange(text, after, { settings: isNew })
      const result: Edited<ChangedText> = [answer, after === text ? Option.none() : Option.some(after)]
      return result
    })
  return {
    plan: (changes: SettingChanges) => Effect.map(Effect.flatMap(current, edited(changes)), ([answer]) => answer),
    save: (changes: SettingChanges) => change(edited(changes))
  }
}
