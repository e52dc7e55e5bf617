import { Array, Effect, Either, Option, Record, Redacted, Ref } from "effect"
import { parseHeaderList } from "../../schema/basics.ts"
import {
  secretSettings,
  settingDefinitions,
  type SettingName,
  type SettingsInvalid,
  type SettingsUnavailable,
  type SettingUnresolved
} from "../../schema/settings.ts"
import { containsReferences, type FindSetting, listSettingsProblems, type SettingsDocument } from "./document.ts"
import type { makeServerReader, notifyTargetReader } from "./readLists.ts"
import { type makeTokenReader, shortestToken } from "./readTokens.ts"
import type { Settings, SettingsFinding } from "./Settings.ts"
import type { SettingsStore, Snapshot } from "./SettingsFile.ts"

type Secrets = ReadonlyArray<Redacted.Redacted>

/** Password in the address of a database, as written and decoded: an error message may repeat either. */
const passwordsIn = (address: Redacted.Redacted): Secrets => {
  const written = /^[^:]+:\/\/[^:@/]*:([^@/]+)@|[?&]password=([^&]+)/.exec(Redacted.value(address))
  const password = written?.[1] ?? written?.[2]
  if (password === undefined) return []
  const meant = new URLSearchParams(`p=${password.replaceAll("+", "%2B")}`).get("p")
  return [password, meant ?? password].map((text) => Redacted.make(text))
}

/** The values of a list of headers, and the credentials in them without their scheme. */
const valuesIn = (headers: Redacted.Redacted): Secrets =>
  Object.values(parseHeaderList(Redacted.value(headers))).flatMap((value) =>
    [value, value.replace(/^\S+ /, "")].map((text) => Redacted.make(text))
  )

interface Read {
  /** Cache key; absent if the document contains references, whose values may change independently. */
  readonly document: SettingsDocument | undefined
  readonly secrets: Secrets
}

const nothing: Read = { document: undefined, secrets: [] }

const areSame = (one: Secrets, other: Secrets) =>
  one.length === other.length &&
  one.map(Redacted.value).join("\0") === other.map(Redacted.value).join("\0")

/**
 * Every secret of the file that can be read. Returns the same list object while the secrets are unchanged, so that
 * derived values can be cached. While the file cannot be read, the last secrets stay in use.
 */
export const makeSecrets = (
  current: Effect.Effect<Snapshot, SettingsUnavailable>,
  find: FindSetting,
  servers: ReturnType<typeof makeServerReader>,
  tokens: ReturnType<typeof makeTokenReader>,
  targets: ReturnType<typeof notifyTargetReader>
): Effect.Effect<Effect.Effect<Secrets>> =>
  Effect.gen(function*() {
    const last = yield* Ref.make(nothing)

    const readFrom = (document: SettingsDocument) =>
      Effect.gen(function*() {
        const named = yield* Effect.forEach(
          secretSettings,
          (name) => Effect.map(Effect.option(find(document, name)), Option.flatten)
        )
        const ofServers = yield* Effect.forEach(document.servers, (stored, index) => servers.secrets({ stored, index }))
        const passwords = yield* Effect.map(
          Effect.option(find(document, "state.url")),
          (url) => Option.match(Option.flatten(url), { onNone: () => [], onSome: passwordsIn })
        )
        const headers = yield* Effect.option(find(document, "telemetry.headers"))
        return [
          ...named.flatMap(Option.toArray),
          ...passwords,
          ...Option.match(Option.flatten(headers), { onNone: () => [], onSome: valuesIn }),
          ...ofServers.flat(),
          ...yield* tokens.secrets(document.tokens),
          ...yield* targets.secrets(document.targets)
        ]
      })

    return Effect.gen(function*() {
      const before = yield* Ref.get(last)
      const now = yield* Effect.option(Effect.flatMap(current, ({ document }) => document))
      if (Option.isNone(now) || now.value === before.document) return before.secrets
      const found = yield* readFrom(now.value)
      const secrets = areSame(before.secrets, found) ? before.secrets : found
      yield* Ref.set(last, { document: containsReferences(now.value) ? undefined : now.value, secrets })
      return secrets
    })
  })

/** Bounds the memory of a service that resolves changing secrets for months. */
const mostRemembered = 2_000

interface Joined {
  readonly stored: Secrets
  readonly remembered: Secrets
  readonly all: Secrets
}

/**
 * Adds secrets that programs have resolved to those of the settings, so that every door scrubs them. A program's output is
 * not in the file, so nothing else knows these values.
 */
export const makeRememberedSecrets = (
  stored: Effect.Effect<Secrets>
): Effect.Effect<Pick<Settings["Type"], "rememberSecrets" | "secrets">> =>
  Effect.gen(function*() {
    const remembered = yield* Ref.make<Secrets>([])
    const last = yield* Ref.make<Joined>({ stored: [], remembered: [], all: [] })
    return {
      rememberSecrets: (values) =>
        Ref.update(remembered, (before) => {
          const known = new Set(before.map(Redacted.value))
          const added = values.filter((value) => !known.has(Redacted.value(value)))
          return added.length === 0 ? before : [...before, ...added].slice(-mostRemembered)
        }),
      // The same object until one of both changes: forms of the secrets are cached by list.
      secrets: Effect.gen(function*() {
        const [ofFile, others] = [yield* stored, yield* Ref.get(remembered)]
        if (others.length === 0) return ofFile
        const before = yield* Ref.get(last)
        if (before.stored === ofFile && before.remembered === others) return before.all
        const all = [...ofFile, ...others]
        yield* Ref.set(last, { stored: ofFile, remembered: others, all })
        return all
      })
    }
  })

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
