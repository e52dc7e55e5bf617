import { Context } from "effect"
import type { Effect, Option, Redacted } from "effect"
import type { Disclosed } from "../../schema/Disclosed.ts"
import type { Finding } from "../../schema/Health.ts"
import type { AppEnv, PlatformFailure, PlatformRecord, PlatformServer } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"

/** A call to the platform. */
export type PlatformCall<A> = Effect.Effect<A, PlatformFailure | SettingsError>
/** Fields of an application, in neutral words. */
export interface AppFields {
  readonly [field: string]: unknown
}

/** What the platform answered to being asked for a deployment, and why none was queued when none was. */
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
  /** The full record of an application. Values that mean what `wanted` says are said as they are there. */
  readonly application: (uuid: string, wanted?: AppFields) => PlatformCall<PlatformRecord>
  /**
   * A record of the list with everything that a project file declares, in the words of `wanted`; asks only where the
   * list leaves something out.
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
  /** Whether an application would accept push events that are signed with the configured secret. */
  readonly webhookSecretSet: (uuid: string) => PlatformCall<Disclosed<boolean>>
  /** Where the git host delivers push events to, where that is one address for all applications. */
  readonly webhookUrl: Effect.Effect<string, SettingsError>
  /** Where the git host delivers push events for an application to. */
  readonly webhookUrlOf: (uuid: string) => Effect.Effect<string, SettingsError>
  /** What a person may have to mend: the platform's version, what the token may do. Nothing is changed to find out. */
  readonly check: PlatformCall<ReadonlyArray<Finding>>
}>() {}
