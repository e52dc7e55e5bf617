import { Duration, Effect, Either, Record } from "effect"
import { secretSettings, settingDefinitions, type SettingName } from "../../../schema/Settings.ts"
import { settingDescriptions } from "../../../schema/settings/settingDescriptions.ts"
import type { Setting, SettingJson } from "../../../schema/settings/SettingsList.ts"
import type { FindSetting } from "../read/findSetting.ts"
import type { Resolver } from "../read/resolvedValue.ts"
import type { SettingsDocument } from "../read/settingsDocument.ts"
import { isList, type LocatedValue } from "../read/settingValue.ts"
import { mask, maskUserInfo } from "./maskedText.ts"

const secrets: ReadonlyArray<SettingName> = secretSettings

const fits = (name: SettingName, value: unknown): boolean => {
  const decoded: Either.Either<unknown, unknown> = settingDefinitions[name].decode(value)
  return Either.isRight(decoded)
}

/** Allowed values of a setting with a fixed set of choices. */
const choicesOf = (name: SettingName): ReadonlyArray<string> => {
  const { ast } = settingDefinitions[name].schema
  return ast._tag === "Union"
    ? ast.types.flatMap((each) => each._tag === "Literal" && typeof each.literal === "string" ? [each.literal] : [])
    : []
}

/** Kind of a setting's value, derived from its schema. */
const describeKind = (name: SettingName): Pick<Setting, "kind" | "choices"> => {
  if (secrets.includes(name)) return { kind: "secret" }
  const choices = choicesOf(name)
  if (choices.length > 0) return { kind: "choice", choices }
  if (fits(name, true)) return { kind: "flag" }
  if (fits(name, ["a"])) return { kind: "list" }
  return { kind: fits(name, 1) ? "number" : "text" }
}

const units = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]] as const

/** Formats a duration in the largest unit that divides it. */
const inUnits = (duration: Duration.Duration): string => {
  const millis = Duration.toMillis(duration)
  const [unit, size] = units.find(([, size]) => millis % size === 0) ?? ["milli", 1]
  return `${millis / size} ${unit}${millis === size ? "" : "s"}`
}

const defaultOf = (name: SettingName): SettingJson => {
  const { fallback } = settingDefinitions[name]
  return fallback === undefined ? null : Duration.isDuration(fallback) ? inUnits(fallback) : fallback
}

const isText = (value: unknown): value is string => typeof value === "string"

const shown = (value: unknown): SettingJson =>
  isText(value)
    ? maskUserInfo(value)
    : typeof value === "number" || typeof value === "boolean"
    ? value
    : Array.isArray(value)
    ? value.filter(isText)
    : null

const sourceOf = ({ written }: LocatedValue): Setting["source"] =>
  (isList(written) ? written : [written]).some(({ text }) => text.includes("${env:")) ? "environment" : "file"

/** Lists every setting of a document with its problem, if any. Secrets are masked. */
export const listSettings = (find: FindSetting, resolver: Resolver) => (document: SettingsDocument) =>
  Effect.forEach(Record.keys(settingDefinitions), (name) =>
    Effect.gen(function*() {
      const entry: LocatedValue | undefined = document.settings[name]
      const { line = null } = entry ?? {}
      const about = { name, ...describeKind(name), line, description: settingDescriptions[name] }
      if (entry === undefined) {
        const value = defaultOf(name)
        return { ...about, value, source: value === null ? "none" : "default", problem: null } as const
      }
      const problem = Either.match(yield* Effect.either(find(document, name)), {
        onLeft: ({ message }) => message,
        onRight: () => null
      })
      const value = problem !== null
        ? null
        : secrets.includes(name)
        ? mask
        : shown(yield* Effect.orElseSucceed(resolver.value(name, entry, (value) => Either.right(value)), () => null))
      return { ...about, value, source: sourceOf(entry), problem } satisfies Setting
    }))
