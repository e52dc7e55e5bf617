import { Schema } from "effect"
import type { Disclosed } from "../basics/Disclosed.ts"
import type { Unsendable } from "../basics/Upstream.ts"
import { defineLooseField, describedColumns, type FlagKey, type TextKey } from "./recordColumns.ts"

/** Record as received from the platform, passed through unchanged. */
export interface Raw {
  readonly [field: string]: unknown
}

const anything = { key: Schema.String, value: Schema.Unknown }
const passesThrough = { parseOptions: { propertyOrder: "original" } } as const

/** Environment variable of an application, as in lists. */
export const EnvVarBody = Schema.Struct(
  {
    id: defineLooseField("a number or a string", "Identifier on the platform"),
    key: defineLooseField("a string", "Its name"),
    value: defineLooseField(
      "a string or null",
      "Its value, as far as the token of the settings may read it; *** for a viewer"
    )
  },
  anything
).annotations({ identifier: "EnvVar", ...passesThrough })

/** Environment variable with its value, as far as Berth's token may read it. */
export interface AppEnv {
  readonly key: string
  readonly value: Disclosed<string>
  readonly record: Raw
}

const described = {
  uuid: defineLooseField("a string", "Identifier of the application on the platform"),
  name: defineLooseField("a string", "Its name"),
  ...describedColumns,
  status: defineLooseField("a string", "State as the platform reports it"),
  fqdn: defineLooseField("a string with https://, or null", "The address that it is reached at"),
  manual_webhook_secret_githost: defineLooseField(
    "a string or null",
    "Secret that signs push events to it: *** when it has a secret for that, which is never shown"
  )
}

/** Application record as passed through, with neutral field names. */
export const PlatformRecordBody = Schema.Struct(described, anything).annotations({
  identifier: "PlatformRecord",
  ...passesThrough
})

type DeclaredColumns =
  & { readonly [K in TextKey]?: string | null | undefined }
  & { readonly [K in FlagKey]?: boolean | null | undefined }

/** Known fields of an application's record; empty or absent if the platform omitted them. */
export interface PlatformRecord extends DeclaredColumns {
  readonly uuid: string
  readonly name: string
  readonly fqdn?: string | null | undefined
  readonly manual_webhook_secret_githost?: string | null | undefined
  readonly server_uuid?: string | null | undefined
  readonly raw: Raw
}

/** Application with its port and environment variables; null and empty if they cannot be read. */
export const PlatformApp = Schema.Struct(
  {
    ...described,
    _host_port: Schema.NullOr(Schema.String).annotations({
      description: "The value of its variable HOST_PORT; null when it has none or it cannot be read.",
      examples: ["2000"]
    }),
    _envs: Schema.Array(EnvVarBody).annotations({
      description: "Its environment variables; empty when they cannot be read."
    })
  },
  anything
).annotations({ identifier: "PlatformApp", ...passesThrough })
export interface PlatformApp extends Schema.Schema.Type<typeof PlatformApp> {}

/** A server that the platform deploys to. */
export interface PlatformServer {
  readonly uuid: string
  readonly name: string
  readonly ip?: string | null | undefined
}

/** The platform refused a call. `words` is its own explanation, with the refused fields. */
export class PlatformRefused extends Schema.TaggedError<PlatformRefused>()("PlatformRefused", {
  upstream: Schema.Number,
  words: Schema.String
}) {
  /** Status of the platform's 4xx; 502 for failures of the platform itself, or of Berth's token (401, 403). */
  get status() {
    return this.upstream >= 400 && this.upstream < 500 && this.upstream !== 401 && this.upstream !== 403
      ? this.upstream
      : 502
  }
  override get message() {
    return `Platform API ${this.upstream}: ${this.words}`
  }
}

/** The platform could not be reached, or sent an invalid response. */
export class PlatformUnavailable extends Schema.TaggedError<PlatformUnavailable>()("PlatformUnavailable", {
  call: Schema.String,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `Platform API: ${this.call}: ${this.reason}`
  }
}

/** The platform did not answer in time. */
export class PlatformTimeout extends Schema.TaggedError<PlatformTimeout>()("PlatformTimeout", {
  call: Schema.String,
  seconds: Schema.Number
}) {
  readonly status = 504
  override get message() {
    return `Platform API: ${this.call}: no answer within ${this.seconds} s`
  }
}

export type PlatformFailure = PlatformRefused | PlatformUnavailable | PlatformTimeout | Unsendable
