import { Context, Effect, Option, Redacted } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import type { ListedTarget, NotifyTarget } from "../../schema/notify.ts"
import type {
  Server,
  ServerAmbiguous,
  ServerFields,
  ServerForbidden,
  ServerInput,
  ServerTaken,
  ServerUnresolved
} from "../../schema/servers.ts"
import type {
  GuardSettings,
  Role,
  SettingMissing,
  SettingName,
  SettingsInvalid,
  SettingsUnavailable,
  SettingUnresolved,
  SettingValue
} from "../../schema/settings.ts"
import type { Setting, SettingForbidden, SettingRefused } from "../../schema/settingsList.ts"
import type { JumpRefused, ServerAccess } from "../../schema/ssh.ts"
import type { AccessToken, TokenNotFound, TokenTaken } from "../../schema/tokens.ts"
import { scrubText } from "../masking.ts"
import type { SettingChanges } from "./rights.ts"
import type { SaveOptions, StoredNewToken } from "./serverWriter.ts"
import type { ChangedText } from "./values.ts"

export type SettingsError = SettingsInvalid | SettingMissing | SettingUnresolved | SettingsUnavailable

/** Problem of the settings file: one sentence with file, line and setting, and its fix. */
export interface SettingsFinding {
  readonly problem: string
  readonly fix: string
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

/** Secrets that the settings currently hold; a secret that cannot be read is not in use. */
export const secretsInUse: Effect.Effect<ReadonlyArray<Redacted.Redacted>, never, Settings> = Effect.flatMap(
  Settings,
  ({ secrets }) => secrets
)

/** Removes the secrets in use from foreign text; set `cut` when its beginning is missing. */
export const scrubSecrets = (
  text: string,
  options?: { readonly cut?: boolean }
): Effect.Effect<string, never, Settings> => Effect.map(secretsInUse, (secrets) => scrubText(text, secrets, options))

/** Logs a warning with foreign text, without the secrets in use. */
export const logScrubbedWarning = (text: string): Effect.Effect<void, never, Settings> =>
  Effect.flatMap(scrubSecrets(text), (words) => Effect.logWarning(words))

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

/** Characters per digest. */
export const digestLength = 11

// Tokens are random: a password chosen by a user could be guessed from digests keyed with it.
const keySettings = ["platform.token", "http.token", "gitHost.token", "token"] as const
const ownKey = randomBytes(32)

/** Digests a text; `isShared` is false where the key is specific to this process. */
type KeyedDigest = ((text: string) => string) & { readonly isShared: boolean }

/**
 * Keyed digests that reveal only the equality of two values, even to a caller who can guess them. The key is derived
 * from the first token in the settings, so that every process with these settings makes the same digests, also after a
 * restart. Without a token the key is specific to this process.
 */
export const keyedDigest: Effect.Effect<KeyedDigest, SettingsError, Settings> = Effect.gen(function*() {
  const settings = yield* Settings
  const token = yield* Effect.reduce(
    keySettings,
    Option.none<Redacted.Redacted>(),
    (found, name) => Option.isSome(found) ? Effect.succeed(found) : settings.find(name)
  )
  const secret = Option.match(token, { onNone: () => ownKey, onSome: Redacted.value })
  const key = createHmac("sha256", secret).update("berth keyed digest").digest()
  const digest = (text: string) => createHmac("sha256", key).update(text).digest("base64url").slice(0, digestLength)
  return Object.assign(digest, { isShared: Option.isSome(token) })
})
