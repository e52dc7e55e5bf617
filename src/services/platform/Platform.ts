import { Context, type Effect, type Option, type Redacted } from "effect"
import type { AppEnv, PlatformFailure, PlatformRecord, PlatformServer } from "../../schema/applications/PlatformApp.ts"
import type { Disclosed } from "../../schema/basics/Disclosed.ts"
import type { Finding } from "../../schema/Health.ts"
import type { SettingsError } from "../../schema/Settings.ts"

/** A call to the platform. */
export type PlatformCall<A> = Effect.Effect<A, PlatformFailure | SettingsError>
/** Fields of an application, in neutral terms. */
export interface AppFields {
  readonly [field: string]: unknown
}

/** Response to a deployment request, with the reason if none was queued. */
export interface DeployAnswer {
  readonly body: unknown
  readonly notQueued: Option.Option<string>
}

/**
 * The deployment platform, in terms that do not depend on the vendor. A body that is passed on to a caller is
 * `unknown`: its shape is the platform's own.
 */
export class Platform extends Context.Tag("berth/Platform")<Platform, {
  readonly applications: PlatformCall<ReadonlyArray<PlatformRecord>>
  /** Full record of an application. Values equivalent to those in `wanted` use its spelling. */
  readonly application: (uuid: string, wanted?: AppFields) => PlatformCall<PlatformRecord>
  /**
   * Completes a record of the list with all declared fields, in the spelling of `wanted`; reads it again only if the
   * list omits fields.
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
  /** Removes the generated addresses of an application that is not a compose stack. */
  readonly clearDomains: (uuid: string) => PlatformCall<void>
  /** Environment variables of an application, without those of previews. */
  readonly envs: (uuid: string) => PlatformCall<ReadonlyArray<AppEnv>>
  /** List of an application's environment variables, as the platform returns it. */
  readonly envsBody: (uuid: string) => PlatformCall<unknown>
  readonly createEnv: (uuid: string, key: string, value: string) => PlatformCall<unknown>
  readonly updateEnv: (uuid: string, env: AppEnv, value: string) => PlatformCall<unknown>
  readonly deleteEnv: (uuid: string, env: AppEnv) => PlatformCall<unknown>
  /** Requests a deployment, even of a version that is already deployed. */
  readonly deploy: (uuid: string) => PlatformCall<DeployAnswer>
  /** Name of the project with this uuid; absent if it does not exist, hidden if the platform does not disclose it. */
  readonly projectName: (uuid: string) => PlatformCall<Disclosed<string>>
  /** Name of the deploy key with this uuid; absent or hidden like that of a project. */
  readonly privateKeyName: (uuid: string) => PlatformCall<Disclosed<string>>
  readonly servers: PlatformCall<ReadonlyArray<PlatformServer>>
  /** List of servers, as the platform returns it. */
  readonly serversBody: PlatformCall<unknown>
  /** Sets the secret that signs push events to an application; an empty one clears it. */
  readonly setWebhookSecret: (uuid: string, secret: Redacted.Redacted) => PlatformCall<void>
  /** True if the application accepts push events signed with the configured secret. */
  readonly webhookSecretSet: (uuid: string) => PlatformCall<Disclosed<boolean>>
  /** Address for push events, if all applications share one. */
  readonly webhookUrl: Effect.Effect<string, SettingsError>
  /** Address for an application's push events. */
  readonly webhookUrlOf: (uuid: string) => Effect.Effect<string, SettingsError>
  /** Findings for `doctor`: the platform's version, the token's abilities. Read-only. */
  readonly check: PlatformCall<ReadonlyArray<Finding>>
}>() {}
