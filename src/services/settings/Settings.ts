import { Context } from "effect"
import type { Effect, Option, Redacted } from "effect"
import type { Server, ServerAccess, ServerAmbiguous, ServerInput, ServerUnresolved } from "../../schema/Server.ts"
import type { ServerTaken } from "../../schema/ServerToStore.ts"
import type { GuardSettings, SettingName, SettingsError, SettingValue } from "../../schema/Settings.ts"
import type { SettingsFinding } from "./settingsFindings.ts"

/** Single settings by their names. */
export interface SettingValues {
  /** The value of a setting, or its default; fails with `SettingMissing` where it has neither. */
  readonly get: <Name extends SettingName>(name: Name) => Effect.Effect<SettingValue<Name>, SettingsError>
  /** The value of a setting, its default, or nothing. */
  readonly find: <Name extends SettingName>(
    name: Name
  ) => Effect.Effect<Option.Option<SettingValue<Name>>, SettingsError>
}

/** What a caller wants of a server that is stored, beside what is stored of it. */
export interface StoringWishes {
  /** The id of a server that is added; a number unless given. */
  readonly newId: string | undefined
  /** Whether a name that another server has is refused. */
  readonly uniqueName: boolean
}

/** The settings file and what is in it. */
export interface SettingsFile extends SettingValues {
  /** Where the settings are read from and written to: an absolute local path. */
  readonly file: string
  /** What the file says now: for who needs several settings that belong together. */
  readonly now: Effect.Effect<SettingValues, SettingsError>
  /** Whom the service answers. While the file is broken, what it last said still holds. */
  readonly guard: Effect.Effect<GuardSettings>
  /**
   * Every secret of the file that can be read, the same list for as long as none of them changes. While the file is
   * broken, what it last said still holds.
   */
  readonly secrets: Effect.Effect<ReadonlyArray<Redacted.Redacted>>
  /** Everything in the file that a person has to mend, as it is now. */
  readonly findings: Effect.Effect<ReadonlyArray<SettingsFinding>>
  /** The stored servers, without credentials. */
  readonly servers: Effect.Effect<ReadonlyArray<Server>, SettingsError>
  /** The stored server with this id, or else the only one with this name, with its credentials resolved. */
  readonly server: (idOrName: string) => Effect.Effect<ServerAccess, ServerUnresolved | SettingsError>
  /** Replaces the server with the same id, or appends it under a new one. */
  readonly saveServer: (
    input: ServerInput,
    wishes?: StoringWishes
  ) => Effect.Effect<Server, ServerTaken | SettingsError>
  /** Fails where `saveServer` would refuse the id or the name. */
  readonly checkServer: (input: ServerInput, wishes: StoringWishes) => Effect.Effect<void, ServerTaken | SettingsError>
  /** Removes the server with this id, or else with this name; one that does not exist is not a failure. */
  readonly removeServer: (idOrName: string) => Effect.Effect<void, ServerAmbiguous | SettingsError>
}

/** The settings file, read anew for each request. */
export class Settings extends Context.Tag("berth/Settings")<Settings, SettingsFile>() {}
