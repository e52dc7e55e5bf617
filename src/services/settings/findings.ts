import { Array, Effect, Either, Option, Record } from "effect"
import {
  settingDefinitions,
  type SettingName,
  type SettingsInvalid,
  type SettingsUnavailable,
  type SettingUnresolved
} from "../../schema/settings.ts"
import { type FindSetting, listSettingsProblems, type SettingsDocument } from "./document.ts"
import type { makeServerReader, notifyTargetReader } from "./readLists.ts"
import { type makeTokenReader, shortestToken } from "./readTokens.ts"
import type { SettingsFinding } from "./Settings.ts"
import type { SettingsStore } from "./SettingsFile.ts"

const fixOf = (error: SettingsInvalid | SettingsUnavailable | SettingUnresolved): string => {
  switch (error._tag) {
    case "SettingUnresolved":
      return "Set what it names before the service needs it, or write the value in its place"
    case "SettingsUnavailable":
      return "Make the file readable for the user that runs the service"
    case "SettingsInvalid":
      return error.setting === null
        ? "Nothing of the file is in use until this is mended"
        : error.reason.startsWith("is not a setting")
        ? "Rename it, or remove the line"
        : "Correct the value, or remove the line to have the default"
  }
}

/** Makes a finding about a setting on a line; an error about an invalid value already names its line. */
const found = (
  error: SettingsInvalid | SettingsUnavailable | SettingUnresolved,
  file: string,
  line: number
): SettingsFinding => ({
  problem: error._tag === "SettingUnresolved"
    ? `${file}:${line}: ${error.setting} cannot be resolved: ${error.reason}`
    : error.message,
  fix: fixOf(error)
})

/** Settings that are useless without their companion. */
const companions = [["platform.url", "platform.token"], ["gitHost.url", "gitHost.owner"]] as const

/**
 * Finds all current problems of the settings file: invalid values, unresolved references, and settings without their
 * companion. Requests that do not need these settings are still served.
 */
export const makeFindings = (
  { current, file }: SettingsStore,
  find: FindSetting,
  servers: ReturnType<typeof makeServerReader>,
  tokens: ReturnType<typeof makeTokenReader>,
  targets: ReturnType<typeof notifyTargetReader>
): Effect.Effect<ReadonlyArray<SettingsFinding>> => {
  const at = (line: number) => (error: SettingsInvalid | SettingUnresolved) => found(error, file, line)

  const inDocument = (document: SettingsDocument) =>
    Effect.gen(function*() {
      const { servers: stored, settings, targets: storedTargets, tokens: storedTokens } = document
      const names = Record.keys(settingDefinitions).filter((name) => settings[name] !== undefined)
      const lineOf = (name: SettingName) => settings[name]?.line ?? 1
      const ofSettings = yield* Effect.forEach(names, (name) =>
        Effect.either(
          Effect.mapError(find(document, name), at(lineOf(name)))
        ))
      const ofServers = yield* Effect.forEach(stored, (server, index) => servers.problems({ stored: server, index }))
      const general = yield* Effect.option(find(document, "http.token"))
      const ofTokens = yield* tokens.judged(storedTokens, Option.flatten(general), lineOf("http.token"))
      const ofTargets = yield* targets.judged(storedTargets)
      const alone = companions.filter(([name, companion]) =>
        settings[name] !== undefined && settings[companion] === undefined
      )
      return [
        ...Array.getLefts(ofSettings),
        ...ofServers.flat().map(({ error, line }) => found(error, file, line)),
        ...ofTokens.failed.map((error) => found(error, file, error._tag === "SettingsInvalid" ? error.line ?? 1 : 1)),
        ...ofTokens.short.map(({ line, setting }): SettingsFinding => ({
          problem: `${file}:${line}: ${setting} has fewer than ${shortestToken} characters, and can be guessed`,
          fix: "Make a longer one: openssl rand -hex 32"
        })),
        ...ofTargets.flatMap(({ error, line }) => Option.toArray(error).map((one) => found(one, file, line))),
        ...alone.map(([name, companion]): SettingsFinding => ({
          problem: `${file}:${lineOf(name)}: ${name} is set, but ${companion} is not`,
          fix: `Add ${companion}, which the calls to it need too`
        }))
      ]
    })

  return current.pipe(
    Effect.flatMap(({ document, text }) =>
      Either.match(document, {
        onRight: inDocument,
        onLeft: (first) => {
          const all = listSettingsProblems(file, text)
          return Effect.succeed((all.length === 0 ? [first] : all).map((error) => found(error, file, 1)))
        }
      })
    ),
    Effect.catchAll((error) => Effect.succeed([found(error, file, 1)]))
  )
}
