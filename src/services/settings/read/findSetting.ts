import { Effect, Option } from "effect"
import {
  LocalPath,
  settingDefinitions,
  type SettingName,
  type SettingsInvalid,
  type SettingUnresolved,
  type SettingValue
} from "../../../schema/Settings.ts"
import type { Resolver } from "./resolvedValue.ts"
import type { SettingsDocument } from "./settingsDocument.ts"
import { definitions, type LocatedValue, makeTextScalar } from "./settingValue.ts"

/** Reads one setting of a document: its value or its default, if it has either. */
export type FindSetting = <Name extends SettingName>(
  document: SettingsDocument,
  name: Name
) => Effect.Effect<Option.Option<SettingValue<Name>>, SettingUnresolved | SettingsInvalid>

const isPath = (name: SettingName) => settingDefinitions[name].schema === LocalPath

export const findWith = (resolver: Resolver): FindSetting => ({ settings }, name) => {
  const { decode, fallback } = definitions[name]
  const written: LocatedValue | undefined = settings[name]
  if (isPath(name)) {
    const entry = written ?? (typeof fallback === "string" ? { line: 0, written: makeTextScalar(fallback) } : undefined)
    const absolute = (value: unknown) => decode(typeof value === "string" ? resolver.path(value) : value)
    return entry === undefined ? Effect.succeedNone : Effect.asSome(resolver.value(name, entry, absolute))
  }
  return written === undefined
    ? Effect.succeed(Option.fromNullable(fallback))
    : Effect.asSome(resolver.value(name, written, decode))
}
