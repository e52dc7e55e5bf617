import { Data, Schema, Struct } from "effect"
import { PlanHash, type Unsendable } from "./basics.ts"
import { declaredFields, exposedPorts, publishDefaults } from "./declaredFields.ts"
import { DriftUnknown, RawEntry } from "./upsert.ts"
import { field, flag, number, strictBody, text, texts } from "./validation.ts"
import { cut, quoteInput } from "./words.ts"

/**
 * Value that its owner may not disclose: known, hidden from the requesting token, or absent. Hidden must never be
 * treated as absent.
 */
export type Disclosed<A> = Data.TaggedEnum<{
  Known: { readonly value: A }
  Hidden: { readonly reason: string }
  Absent: {}
}>
export interface DisclosedDefinition extends Data.TaggedEnum.WithGenerics<1> {
  readonly taggedEnum: Disclosed<this["A"]>
}
export const Disclosed = Data.taggedEnum<DisclosedDefinition>()

type DeclaredFields = typeof declaredFields
type Column = NonNullable<DeclaredFields[keyof DeclaredFields]["record"]>

/** Keys of the record with string values. */
export type TextKey = Extract<Column, { readonly kind: "text" | "path" }>["key"]
/** Keys of the record with boolean values. */
export type FlagKey = Extract<Column, { readonly kind: "flag" }>["key"]

/** Declared fields in the platform's application record: name in the file, with the row. */
export const recordFields = Struct.entries(declaredFields).flatMap(([name, { fallback, label, record }]) =>
  record === undefined ? [] : [{ name, label, fallback, record }]
)
export type RecordField = (typeof recordFields)[number]

/** Field owned by the platform: documented but never validated, so that one odd record does not break a list. */
export const defineLooseField = (kind: string, description: string) =>
  Schema.optional(Schema.Unknown.annotations({ jsonSchema: { description: `${description}. Usually ${kind}.` } }))

/** The declared fields of a record, for the description of the API. */
export const describedColumns = Object.fromEntries(
  recordFields.map(({ record: { description, key, usually: kind } }) => [key, defineLooseField(kind, description)])
)

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

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const textOr = (byDefault: string, description: string) =>
  optional(Schema.String).annotations({ description, default: byDefault })

/** An application to create on the platform. */
export const CreateApp = Schema.Struct({
  name: Schema.NonEmptyString.annotations({ description: "The name of the application.", examples: ["hello"] }),
  buildpack: optional(Schema.Literal("composestack", "autopack")).annotations({
    description: "Build pack; left out, the application is built as autopack.",
    default: "composestack"
  }),
  gitRepo: Schema.NonEmptyString.annotations({
    description: "The address of its repository, read with the deploy key of the settings.",
    examples: ["git@git.example.com:ann/hello.git"]
  }),
  gitBranch: textOr(declaredFields.branch.fallback, "The branch to build."),
  isStatic: optional(Schema.Boolean).annotations({ description: "True when it is a static site.", default: false }),
  publishDir: textOr(publishDefaults.site, "The directory of a static site's built files."),
  portsExposes: textOr(exposedPorts.value, "The ports inside the container, separated by commas."),
  baseDirectory: textOr(declaredFields.baseDirectory.fallback, "The directory of the repository that is built."),
  composeLocation: textOr(
    declaredFields.composeLocation.fallback,
    "Where its compose file is, below the base directory."
  ),
  serverUuid: optional(Schema.String).annotations({
    description: "The uuid of the platform's server to run it on; left out, that of platform.defaultServerUuid."
  })
}).annotations({ identifier: "CreatePlatformAppRequest", ...strictBody })
export interface CreateApp extends Schema.Schema.Type<typeof CreateApp> {}

/** An environment variable to create. */
export const CreateEnv = Schema.Struct({
  key: Schema.NonEmptyString.annotations({ description: "The name of the variable.", examples: ["TZ"] }),
  value: text("Its value.", "Europe/Vienna")
}).annotations({ identifier: "CreateEnvRequest", ...strictBody })
export interface CreateEnv extends Schema.Schema.Type<typeof CreateEnv> {}

const filled = (description: string) =>
  Schema.NonEmptyString.annotations({ description, message: () => "must not be empty" })

/** A live application to declare in a project's `platform.json`. */
export const AdoptRequest = Schema.Struct({
  uuid: filled("The application's uuid on the platform."),
  projectPath: filled("The absolute path of the project's directory."),
  replace: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: "true: replace the entry of the application's name, when there is one.",
    default: false
  })
}).annotations({ identifier: "AdoptRequest", ...strictBody })
export interface AdoptRequest extends Schema.Schema.Type<typeof AdoptRequest> {}

/** Written entry, and the properties of the application that it lacks. */
export const Adoption = Schema.Struct({
  action: Schema.Literal("added", "replaced").annotations({
    description: "Change of platform.json: a new entry, or a replaced one."
  }),
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  entry: field(RawEntry, "The entry as it stands in platform.json now."),
  unknown: Schema.Array(DriftUnknown).annotations({
    description: "Fields that the platform does not tell: not in the entry, unless they were there before."
  }),
  warnings: Schema.Array(Schema.String).annotations({
    description: "Properties of the application that the entry cannot express."
  })
}).annotations({ identifier: "Adoption" })
export interface Adoption extends Schema.Schema.Type<typeof Adoption> {}

/** The project declares an application of that name already. Nothing was written. */
export class EntryExists extends Schema.TaggedError<EntryExists>()("EntryExists", {
  file: Schema.String,
  name: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `${cut(this.file)} has an entry named ${quoteInput(this.name)} already, and was not changed: ` +
      "send \"replace\": true to replace it"
  }
}

/** An entry of `platform.json` cannot express the application. Nothing was written. */
export class NotDeclarable extends Schema.TaggedError<NotDeclarable>()("NotDeclarable", {
  name: Schema.String,
  reason: Schema.String
}) {
  readonly status = 422
  override get message() {
    return `The application ${
      quoteInput(this.name)
    } cannot be declared in platform.json, and nothing was written: ${this.reason}`
  }
}

/** A route of the proxy file that belongs to an application. */
const OwnRoute = Schema.Struct({
  routeName: text("The name of the route.", "hello"),
  way: text("Where it leads.", "hello.example.com to http://192.0.2.20:2010")
}).annotations({ identifier: "OwnRoute" })

/** Webhook of a repository that delivers pushes for a single application. */
const OwnHook = Schema.Struct({
  id: number("The webhook's id on the git host.", 1),
  repository: text("Its repository.", "ann/hello")
}).annotations({ identifier: "OwnHook" })

/** The parts of an application that go with it, or stay. */
const removalParts = {
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  name: text("Its name.", "hello"),
  live: flag("False if the platform no longer has it."),
  route: field(Schema.NullOr(OwnRoute), "Its route in the proxy file; null when it has none there."),
  hooks: field(Schema.Array(OwnHook), "Its webhooks; empty when it has none of its own."),
  stays: texts("What stays or may stay, and why.", [
    "the webhook 1 of ann/hello: the application shop uses it too"
  ])
}

/** Plan of a removal. */
export const Removal = Schema.Struct({
  planHash: Schema.String.annotations({ description: "Sent with a removal, it holds the removal to this plan." }),
  ...removalParts
}).annotations({ identifier: "Removal" })
export interface Removal extends Schema.Schema.Type<typeof Removal> {}

/** Request to remove an application. */
export const RemovalRequest = Schema.Struct({
  keepRoute: Schema.optional(Schema.Boolean).annotations({
    description: "True when its route stays in the proxy file."
  }),
  planHash: Schema.optional(Schema.NullOr(PlanHash)).annotations({
    description: "The planHash of a plan: where something has moved since, nothing is changed and the answer is a 409."
  })
}).annotations({ identifier: "RemovalRequest", ...strictBody })
export interface RemovalRequest extends Schema.Schema.Type<typeof RemovalRequest> {}

/** Result of a removal. */
export const Removed = Schema.Struct({
  ...removalParts,
  success: flag("True when all of it went that was to go; the application itself did.")
}).annotations({ identifier: "Removed" })
export interface Removed extends Schema.Schema.Type<typeof Removed> {}

const HopName = Schema.Literal("application", "port", "route", "https")
export type HopName = typeof HopName.Type

/** Hop between a browser and an application, with its check. */
export const Hop = Schema.Struct({
  hop: HopName.annotations({ description: "Part of the way." }),
  ok: flag("True when this part of the way is passed."),
  detail: text("Observation, or why it fails.", "The platform says: running:healthy"),
  warning: Schema.optional(Schema.String).annotations({
    description: "Note on a part that is passed, such as a certificate that ends soon."
  }),
  millis: number("Duration of the check, in milliseconds.", 84)
}).annotations({ identifier: "Hop" })
export interface Hop extends Schema.Schema.Type<typeof Hop> {}

/** Complete route from the platform to the browser: every hop, and the first one that fails. */
export const Verification = Schema.Struct({
  hops: Schema.Array(Hop).annotations({ description: "Every part of the way, from the platform to the browser." }),
  failing: Schema.NullOr(HopName).annotations({
    description: "The first part of the way that fails; null when a request gets through."
  })
}).annotations({ identifier: "Verification" })
export interface Verification extends Schema.Schema.Type<typeof Verification> {}

/** An HTTPS request to a server failed. */
export class HttpsFailed extends Schema.TaggedError<HttpsFailed>()("HttpsFailed", { reason: Schema.String }) {
  readonly status = 502
  override get message() {
    return this.reason
  }
}

/** The project declares no application that can be verified. */
export class NotVerifiable extends Schema.TaggedError<NotVerifiable>()("NotVerifiable", { reason: Schema.String }) {
  readonly status = 422
  override get message() {
    return this.reason
  }
}
