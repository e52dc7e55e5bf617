import { Context, type Effect, type Option, type Redacted } from "effect"
import type { AppEnv, PlatformFailure, PlatformRecord, PlatformServer } from "../../schema/applications/PlatformApp.ts"
import type { Disclosed } from "../../schema/basics/Disclosed.ts"
import type { Finding } from "../../schema/Health.ts"
import type { SettingsError } from "../../schema/Settings.ts"

/** A call to the platform. */
export type PlatformCall<A> = Effect.Effect<A, PlatformFailure | SettingsError>
/** Fields of an application, in neutral words. */
export interface AppFields {
  readonly [field: string]: unknown
}

/** Answer to a request for a deployment, with the reason if none was queued. */
export interface DeployAnswer {
  readonly body: unknown
  readonly notQueued: Option.Option<string>
}

/**
 * The deployment platform, in neutral words whatever the vendor. A body that is handed on to a caller is `unknown`:
 * it is the platform's own.
 */
export class Platform extends Context.Tag("berth/Platform")<Platform, {
  readonly applications: PlatformCall<ReadonlyArray<PlatformRecord>>
  /** Full record of an application. Values that mean the same as in `wanted` adopt its spelling. */
  readonly application: (uuid: string, wanted?: AppFields) => PlatformCall<PlatformRecord>
  /**
   * Record of the list, completed with all declared fields, in the spelling of `wanted`; reads again only if the list
   * leaves fields out.
   */
  readonly declared: (app: PlatformRecord, wanted: AppFields) => PlatformCall<PlatformRecord>
  /** Creates an application from a private repository with a deploy key; `fields` are those of the create rules. */
  readonly createApplication: (fields: AppFields) => PlatformCall<unknown>
  readonly updateApplication: (uuid: string, fields: AppFields) => PlatformCall<unknown>
  readonly deleteApplication: (uuid: string) => PlatformCall<unknown>
  /** Makes the platform serve an application under one address. `service` names a compose service. */
  readonly setDomain: (
    app: { readonly uuid: string; readonly buildPack: string },
    url: string,
    service?: string
  ) => PlatformCall<void>
  /** Takes the platform's own addresses from an application that is not a compose stack. */
  readonly clearDomains: (uuid: string) => PlatformCall<void>
  /** An application's environment variables; those of previews are left out. */
  readonly envs: (uuid: string) => PlatformCall<ReadonlyArray<AppEnv>>
  /** The list of an application's environment variables as the platform answers it. */
  readonly envsBody: (uuid: string) => PlatformCall<unknown>
  readonly createEnv: (uuid: string, key: string, value: string) => PlatformCall<unknown>
  readonly updateEnv: (uuid: string, env: AppEnv, value: string) => PlatformCall<unknown>
  readonly deleteEnv: (uuid: string, env: AppEnv) => PlatformCall<unknown>
  /** Asks for a deployment, even of what is deployed already. */
  readonly deploy: (uuid: string) => PlatformCall<DeployAnswer>
  /** The name of the project with this uuid; absent where there is none, hidden where the platform does not tell. */
  readonly projectName: (uuid: string) => PlatformCall<Disclosed<string>>
  /** The same of a deploy key. */
  readonly privateKeyName: (uuid: string) => PlatformCall<Disclosed<string>>
  readonly servers: PlatformCall<ReadonlyArray<PlatformServer>>
  /** The list of servers as the platform answers it. */
  readonly serversBody: PlatformCall<unknown>
  /** Sets the secret that push events to an application are signed with; an empty one clears it. */
  readonly setWebhookSecret: (uuid: string, secret: Redacted.Redacted) => PlatformCall<void>
  /** True if the application accepts push events signed with the configured secret. */
  readonly webhookSecretSet: (uuid: string) => PlatformCall<Disclosed<boolean>>
  /** Address for push events, if it is one for all applications. */
  readonly webhookUrl: Effect.Effect<string, SettingsError>
  /** Address for an application's push events. */
  readonly webhookUrlOf: (uuid: string) => Effect.Effect<string, SettingsError>
  /** Findings for `doctor`: the platform's version, the token's abilities. Read-only. */
  readonly check: PlatformCall<ReadonlyArray<Finding>>
}>() {}
