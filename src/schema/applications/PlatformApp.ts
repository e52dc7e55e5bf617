import { Schema } from "effect"
import type { Disclosed } from "../basics/Disclosed.ts"
import type { Unsendable } from "../basics/Upstream.ts"
import { defineLooseField, describedColumns, type FlagKey, type TextKey } from "./recordColumns.ts"

/** A record as the platform gave it: it is handed on untouched, whatever is in it. */
export interface Raw {
  readonly [field: string]: unknown
}

const anything = { key: Schema.String, value: Schema.Unknown }
const passesThrough = { parseOptions: { propertyOrder: "original" } } as const

/** An application's environment variable as it is listed. */
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

/** An environment variable together with its value, as far as Berth's token may read it. */
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

/** An application's record as it is handed on, in neutral words. */
export const PlatformRecordBody = Schema.Struct(described, anything).annotations({
  identifier: "PlatformRecord",
  ...passesThrough
})

type DeclaredColumns =
  & { readonly [K in TextKey]?: string | null | undefined }
  & { readonly [K in FlagKey]?: boolean | null | undefined }

/** Known fields of an application's record; empty and absent ones are those that the platform left out. */
export interface PlatformRecord extends DeclaredColumns {
  readonly uuid: string
  readonly name: string
  readonly fqdn?: string | null | undefined
  readonly manual_webhook_secret_githost?: string | null | undefined
  readonly server_uuid?: string | null | undefined
  readonly raw: Raw
}

/** An application with its port and its environment variables; null and empty when they cannot be read. */
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

/** The platform turned a call down. `words` is its own explanation with the fields it refused. */
export class PlatformRefused extends Schema.TaggedError<PlatformRefused>()("PlatformRefused", {
  upstream: Schema.Number,
  words: Schema.String
}) {
  /** Its own 4xx, but what concerns Berth's token and what is the platform's fault is a bad gateway. */
  get status() {
    return this.upstream >= 400 && this.upstream < 500 && this.upstream !== 401 && this.upstream !== 403
      ? this.upstream
      : 502
  }
  override get message() {
    return `Platform API ${this.upstream}: ${this.words}`
  }
}

/** The platform could not be reached, or answered something that is not an answer. */
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
