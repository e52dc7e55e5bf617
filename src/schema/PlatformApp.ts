import { Schema } from "effect"
import type { Disclosed } from "./Disclosed.ts"
import type { PathSegmentRefused } from "./Upstream.ts"

const text = Schema.optional(Schema.NullOr(Schema.String))
const anything = { key: Schema.String, value: Schema.Unknown }
const passesThrough = { parseOptions: { propertyOrder: "original" } } as const

/** An application's environment variable; fields that Berth does not use pass through. */
export const EnvVar = Schema.Struct(
  {
    id: Schema.optional(Schema.NullOr(Schema.Union(Schema.Number, Schema.String))),
    key: Schema.String,
    value: Schema.optional(Schema.NullOr(Schema.Union(Schema.String, Schema.Number, Schema.Boolean)))
  },
  anything
).annotations({ identifier: "EnvVar", ...passesThrough })
export interface EnvVar extends Schema.Schema.Type<typeof EnvVar> {}

/** An environment variable together with its value, as far as Berth's token may read it. */
export interface AppEnv {
  readonly record: EnvVar
  readonly value: Disclosed<string>
}

const recordFields = {
  uuid: Schema.String,
  name: Schema.String,
  build_pack: text,
  git_repository: text,
  git_branch: text,
  status: text,
  fqdn: text,
  base_directory: text,
  compose_location: text,
  is_static: Schema.optional(Schema.NullOr(Schema.Boolean)),
  publish_directory: text,
  manual_webhook_secret_githost: text
}

/** The platform's record of an application, in neutral words; fields that Berth does not use pass through. */
export const PlatformRecord = Schema.Struct(recordFields, anything).annotations({
  identifier: "PlatformRecord",
  ...passesThrough
})
export interface PlatformRecord extends Schema.Schema.Type<typeof PlatformRecord> {}

/** An application with its port and its environment variables; null and empty when they cannot be read. */
export const PlatformApp = Schema.Struct(
  { ...recordFields, _host_port: Schema.NullOr(Schema.String), _envs: Schema.Array(EnvVar) },
  anything
).annotations({ identifier: "PlatformApp", ...passesThrough })
export interface PlatformApp extends Schema.Schema.Type<typeof PlatformApp> {}

/** A server that the platform deploys to. */
export const PlatformServer = Schema.Struct(
  { uuid: Schema.String, name: Schema.String, ip: text },
  anything
).annotations({ identifier: "PlatformServer", ...passesThrough })
export interface PlatformServer extends Schema.Schema.Type<typeof PlatformServer> {}

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

/** The platform could not be reached, or answered something that is no answer. */
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

export type PlatformFailure = PlatformRefused | PlatformUnavailable | PlatformTimeout | PathSegmentRefused
