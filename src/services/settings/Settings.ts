import { Array, Context, Effect, Either, Option, Record, type Redacted } from "effect"
import type { ListedTarget, NotifyTarget } from "../../schema/notify.ts"
import type {
  Server,
  ServerAccess,
  ServerAmbiguous,
  ServerFields,
  ServerForbidden,
  ServerInput,
  ServerTaken,
  ServerUnresolved
} from "../../schema/servers.ts"
import {
  type GuardSettings,
  type Role,
  settingDefinitions,
  type SettingName,
  type SettingsError,
  type SettingsInvalid,
  type SettingsUnavailable,
  type SettingUnresolved,
  type SettingValue
} from "../../schema/settings.ts"
import type { Setting, SettingForbidden, SettingRefused } from "../../schema/settingsList.ts"
import type { JumpRefused } from "../../schema/ssh.ts"
import type { AccessToken, TokenNotFound, TokenTaken } from "../../schema/tokens.ts"
import { type FindSetting, listSettingsProblems, type SettingsDocument } from "./document.ts"
import type { makeServerReader, notifyTargetReader } from "./readLists.ts"
import { type makeTokenReader, shortestToken } from "./readTokens.ts"
import type { SettingChanges } from "./rights.ts"
import type { SaveOptions } from "./serverWriter.ts"
import type { SettingsStore } from "./SettingsFile.ts"
import type { StoredNewToken } from "./tokenWriter.ts"
import type { ChangedText } from "./values.ts"

/** Problem of the settings file: one sentence with file, line and setting, and its fix. */
interface SettingsFinding {
  readonly problem: string
  readonly fix: string
}

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

/** Single settings by their names. */
export interface SettingValues {
  /** Value of a setting, or its default; fails with `SettingMissing` if it has neither. */
  readonly get: <Name extends SettingName>(name: Name) => Effect.Effect<SettingValue<Name>, SettingsError>
  /** Value of a setting, its default, or none. */
  readonly find: <Name extends SettingName>(
    name: Name
  ) => Effect.Effect<Option.Option<SettingValue<Name>>, SettingsError>
}

/** A stored server without the route to it, since the route may be unreadable or about to be replaced. */
export interface StoredAccess {
  readonly server: ServerAccess
  readonly jump: Effect.Effect<string | null, SettingsError>
  /** The last of its jump hosts. */
  readonly via: Effect.Effect<ServerAccess | undefined, SettingsError>
}

/** A server as it would be stored, and the change of the file without secrets. */
interface PlannedServer {
  readonly server: Server
  readonly text: ChangedText
}

/** The settings file and its content. */
export interface SettingsFile extends SettingValues {
  /** Absolute local path of the settings file, or the name of the variable that holds the settings. */
  readonly file: string
  /** Local directory of what is kept beside the settings: known host keys, the history of runs, trust. */
  readonly directory: string
  /** False when that directory goes with this process, so that nothing is remembered for the next one. */
  readonly isLasting: boolean
  /** False when the file does not exist, and all settings have their defaults. */
  readonly isStored: Effect.Effect<boolean, SettingsError>
  /** Consistent snapshot, for reading several settings that belong together. */
  readonly now: Effect.Effect<SettingValues, SettingsError>
  /** Access rules of the service; the last valid ones while the file is invalid. */
  readonly guard: Effect.Effect<GuardSettings>
  /**
   * Every secret of the file that can be resolved, and those of `rememberSecrets`. Returns the same list object until a
   * secret changes, and the last list of the file while it is invalid.
   */
  readonly secrets: Effect.Effect<ReadonlyArray<Redacted.Redacted>>
  /** Adds secrets from elsewhere to those in use, until this process ends. */
  readonly rememberSecrets: (values: ReadonlyArray<Redacted.Redacted>) => Effect.Effect<void>
  /** Current problems of the file that the user has to fix. */
  readonly findings: Effect.Effect<ReadonlyArray<SettingsFinding>>
  /** Targets of notifications; the last ones while the file is invalid. */
  readonly targets: Effect.Effect<ReadonlyArray<NotifyTarget>>
  /** Targets of notifications without their addresses, each with the reason why it cannot be notified, if any. */
  readonly listedTargets: Effect.Effect<ReadonlyArray<ListedTarget>, SettingsError>
  /** All settings except servers, targets and named tokens, each with its problem, if any. Secrets are masked. */
  readonly list: Effect.Effect<ReadonlyArray<Setting>, SettingsError>
  /** The text of the file before and after a change of single settings, without secrets. */
  readonly planChange: (
    changes: SettingChanges
  ) => Effect.Effect<ChangedText, SettingForbidden | SettingRefused | SettingsError>
  /** Changes single settings in the file and keeps all other bytes. */
  readonly changeSettings: (
    changes: SettingChanges
  ) => Effect.Effect<ChangedText, SettingForbidden | SettingRefused | SettingsError>
  /** The token of `http.token` and those of `http.tokens`, without their values. */
  readonly tokens: Effect.Effect<ReadonlyArray<AccessToken>, SettingsError>
  /** Adds a generated token to `http.tokens` and keeps all other bytes. */
  readonly addToken: (name: string, role: Role) => Effect.Effect<StoredNewToken, TokenTaken | SettingsError>
  /** Removes a token from `http.tokens`; true if the settings have none left. */
  readonly removeToken: (name: string) => Effect.Effect<boolean, TokenNotFound | SettingsError>
  /** Id of the stored server with this id, or else with this name. */
  readonly serverId: (idOrName: string) => Effect.Effect<string, ServerUnresolved | SettingsError>
  /** The stored servers, without credentials. */
  readonly servers: Effect.Effect<ReadonlyArray<Server>, SettingsError>
  /** The stored server with this id, or else the only one with this name, with its credentials resolved. */
  readonly server: (idOrName: string) => Effect.Effect<ServerAccess, ServerUnresolved | SettingsError>
  /** Like `server`, but without the route to it; succeeds even if its jump hosts cannot be used. */
  readonly storedServer: (idOrName: string) => Effect.Effect<StoredAccess, ServerUnresolved | SettingsError>
  /** Resolves a list of jump hosts to the last one, with the credentials for each. */
  readonly jumpRoute: (jump: string) => Effect.Effect<ServerAccess, JumpRefused | SettingsError>
  /**
   * Replaces the server with the same id, or appends it under a new one. Refuses callers with a token what would change
   * the route of another server.
   */
  readonly saveServer: (
    input: ServerFields,
    options?: SaveOptions
  ) => Effect.Effect<Server, ServerForbidden | ServerTaken | SettingsError>
  /** The server and the change of the file that `saveServer` would make. */
  readonly planServer: (
    input: ServerFields,
    options: SaveOptions
  ) => Effect.Effect<PlannedServer, ServerForbidden | ServerTaken | SettingsError>
  /** Fails when `saveServer` would. */
  readonly checkServer: (
    input: ServerFields,
    options: SaveOptions
  ) => Effect.Effect<void, ServerForbidden | ServerTaken | SettingsError>
  /** Refuses credentials that the current caller may not use for a server, stored or not. */
  readonly permitAccess: (
    input: Pick<ServerInput, "agent" | "privateKey">,
    via: ServerAccess | undefined
  ) => Effect.Effect<void, ServerForbidden | SettingsError>
  /** Removes the server with this id, or else with this name; succeeds if it does not exist. */
  readonly removeServer: (idOrName: string) => Effect.Effect<void, ServerAmbiguous | ServerForbidden | SettingsError>
}

/** The settings file; every access sees its current content. */
export class Settings extends Context.Tag("berth/Settings")<Settings, SettingsFile>() {}

/** Ports of a server that bridges may publish. */
export interface BridgePorts {
  readonly first: number
  readonly last: number
}

/** The setting `deploy.bridgePorts`. */
export const bridgePorts: Effect.Effect<BridgePorts, SettingsError, Settings> = Effect.gen(function*() {
  const [first = "", last = ""] = (yield* (yield* Settings).get("deploy.bridgePorts")).split("-")
  return { first: Number(first), last: Number(last) }
})

/** True if a bridge may publish a port. */
export const isBridgePort = ({ first, last }: BridgePorts, port: number): boolean => port >= first && port <= last
