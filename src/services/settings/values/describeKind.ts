import { Either } from "effect"
import { secretSettings, settingDefinitions, type SettingName } from "../../../schema/Settings.ts"
import type { Setting } from "../../../schema/settings/SettingsList.ts"

const secrets: ReadonlyArray<SettingName> = secretSettings

const fits = (name: SettingName, value: unknown): boolean => {
  const decoded: Either.Either<unknown, unknown> = settingDefinitions[name].decode(value)
  return Either.isRight(decoded)
}

/** The words of a setting that takes one of a few. */
const choicesOf = (name: SettingName): ReadonlyArray<string> => {
  const { ast } = settingDefinitions[name].schema
  return ast._tag === "Union"
    ? ast.types.flatMap((each) => each._tag === "Literal" && typeof each.literal === "string" ? [each.literal] : [])
    : []
}

/** Kind of a setting's value, derived from its schema. */
export const describeKind = (name: SettingName): Pick<Setting, "kind" | "choices"> => {
  if (secrets.includes(name)) return { kind: "secret" }
  const choices = choicesOf(name)
  if (choices.length > 0) return { kind: "choice", choices }
  if (fits(name, true)) return { kind: "flag" }
  if (fits(name, ["a"])) return { kind: "list" }
  return { kind: fits(name, 1) ? "number" : "text" }
}
