import { Duration, type Option, Record, type Redacted, Schema } from "effect"
import { DurationText } from "./basics/DurationText.ts"
import { findHeadersRefusal } from "./basics/headerList.ts"
import { outboundUrlRefusal, upstreamUrlRefusal } from "./basics/outboundUrl.ts"
import { OnUnhealthy } from "./deploy/Deploy.ts"
import { Port } from "./servers/Server.ts"

const HttpUrl = Schema.String.pipe(Schema.filter((text) => upstreamUrlRefusal(text) ?? true))
const Secret = Schema.Redacted(Schema.String)
const StateUrl = Schema.Redacted(Schema.String.pipe(
  // An empty host means a Unix socket, which the query names.
  Schema.pattern(/^postgres(?:ql)?:\/\/[^\s/?#]*\/[^\s/?#]+(?:\?\S*)?$/, {
    message: () => "must be an address like postgres://user:password@db.example.com:5432/berth"
  })
))
const CollectorUrl = Schema.String.pipe(
  Schema.filter((text) =>
    outboundUrlRefusal(text) ?? (/[?#]/.test(text) ? "must not contain a query or a fragment" : true)
  )
)
const HeaderList = Schema.Redacted(Schema.String.pipe(Schema.filter((text) => findHeadersRefusal(text) ?? true)))
const Word = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/))
const AbsolutePath = Schema.String.pipe(
  Schema.pattern(/^\/[^\0\r\n]*$/, { message: () => "must be an absolute path on the target host" })
)
const Cidr = Schema.String.pipe(
  Schema.pattern(/^(\d{1,3}\.){3}\d{1,3}\/([0-9]|[12][0-9]|3[0-2])$/, {
    message: () => "must be an IPv4 subnet like 192.168.1.0/24"
  })
)
const HostPorts = Schema.String.pipe(
  Schema.filter((ports) => {
    const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(ports) ?? []
    return (Number(first) >= 1 && Number(first) <= Number(last) && Number(last) <= 65_535) ||
      "must be a range of ports like 30000-30999"
  })
)
const saying = (words: string) => ({ message: () => ({ message: words, override: true }) })
const Texts = Schema.Array(Schema.NonEmptyString).annotations(saying("must be a list of strings"))
const CommandLine = Schema.NonEmptyArray(Schema.NonEmptyString).annotations(
  saying("must be a list of strings: a program and its first arguments")
)
const oneOf = <const Words extends readonly [string, ...Array<string>]>(...words: Words) =>
  Schema.Literal(...words).annotations(saying(`must be ${words.join(" or ")}`))

// The lease must outlast several heartbeats of a busy process.
const shortestTakeOver = Duration.seconds(5)
const longestTakeOver = Duration.hours(1)

const YesOrNo = Schema.Boolean.annotations(saying("must be true or false"))

/** A local path, made absolute: `~` is the home directory, relative paths are relative to the settings file. */
export const LocalPath = Schema.NonEmptyString.annotations({ identifier: "LocalPath" })
const optional = <A, I>(schema: Schema.Schema<A, I>) => ({
  schema,
  decode: Schema.decodeUnknownEither(schema),
  fallback: undefined
})
const defaulted = <A, I>(schema: Schema.Schema<A, I>, fallback: A) => ({
  schema,
  decode: Schema.decodeUnknownEither(schema),
  fallback
})

/**
 * Schema and default of every setting except `servers`, by its dotted name. Requests fail if they need an absent
 * setting without a default.
 */
export const settingDefinitions = {
  "token": optional(Secret),
  "projects.root": defaulted(LocalPath, "~/projects"),
  "projects.anywhere": defaulted(YesOrNo, false),
  "platform.profile": defaulted(oneOf("neutral", "coolify"), "neutral"),
  "platform.url": optional(HttpUrl),
  "platform.token": optional(Secret),
  "platform.projectUuid": optional(Schema.NonEmptyString),
  "platform.defaultServerUuid": optional(Schema.NonEmptyString),
  "platform.privateKeyUuid": optional(Schema.NonEmptyString),
  "platform.webhookUrl": optional(HttpUrl),
  "platform.localAliases": defaulted(Texts, ["host.docker.internal", "host.containers.internal"]),
  "platform.timeout": defaulted(DurationText, Duration.seconds(30)),
  "gitHost.profile": defaulted(oneOf("neutral", "gitea", "forgejo"), "neutral"),
  "gitHost.url": optional(HttpUrl),
  "gitHost.token": optional(Secret),
  "gitHost.sshHost": optional(Schema.NonEmptyString),
  "gitHost.sshPort": defaulted(Port, 2004),
  "gitHost.owner": optional(Word),
  "gitHost.webhookSecret": optional(Secret),
  "proxy.configFile": optional(AbsolutePath),
  "proxy.server": optional(Schema.NonEmptyString),
  "proxy.targetIp": optional(Schema.NonEmptyString),
  "proxy.subnet": optional(Cidr),
  "proxy.httpsPort": defaulted(Port, 443),
  "proxy.settle": defaulted(DurationText, Duration.seconds(5)),
  "deploy.healthTimeout": defaulted(DurationText, Duration.seconds(60)),
  "deploy.healthInterval": defaulted(DurationText, Duration.seconds(2)),
  "deploy.transfer": defaulted(oneOf("auto", "full"), "auto"),
  "deploy.pull": defaulted(oneOf("missing", "never", "always"), "missing"),
  "deploy.keepReleases": defaulted(
    Schema.Int.pipe(Schema.between(1, 100)).annotations(saying("must be a whole number from 1 to 100")),
    5
  ),
  "deploy.onUnhealthy": defaulted(OnUnhealthy, "rollback"),
  "deploy.bridgePorts": defaulted(HostPorts, "30000-30999"),
  "build.shell": defaulted(CommandLine, ["pwsh"]),
  "build.timeout": defaulted(DurationText, Duration.minutes(30)),
  "editor.command": defaulted(CommandLine, ["code", "--diff"]),
  "runs.keep": defaulted(DurationText, Duration.days(90)),
  "stats.sample": defaulted(oneOf("onDemand", "always"), "onDemand"),
  "telemetry.otlp": optional(CollectorUrl),
  "telemetry.headers": optional(HeaderList),
  "state.url": optional(StateUrl),
  "state.takeOver": defaulted(
    DurationText.pipe(
      Schema.filter((takeOver) =>
        Duration.between(takeOver, { minimum: shortestTakeOver, maximum: longestTakeOver }) ||
        "must be 5 seconds at least, and an hour at most"
      )
    ),
    Duration.seconds(10)
  ),
  "mcp.enabled": defaulted(YesOrNo, true),
  "mcp.readOnly": defaulted(YesOrNo, false),
  "http.token": optional(Secret),
  "http.hosts": defaulted(Texts, []),
  "http.origins": defaulted(Texts, [])
} as const

type Definitions = typeof settingDefinitions
/** Dotted name of a setting, as in the file. */
export type SettingName = keyof Definitions
/** Decoded type of a setting. */
export type SettingValue<Name extends SettingName> = Schema.Schema.Type<Definitions[Name]["schema"]>

type SecretName = { [Name in SettingName]: SettingValue<Name> extends Redacted.Redacted ? Name : never }[SettingName]
const secretSchemas: ReadonlyArray<Schema.Schema.All> = [Secret, StateUrl, HeaderList]
const isSecret = (name: SettingName): name is SecretName => secretSchemas.includes(settingDefinitions[name].schema)
/** Settings that contain a secret. */
export const secretSettings = Record.keys(settingDefinitions).filter(isSecret)

/** Role of a token: operators may do everything, viewers only read. */
export const Role = oneOf("viewer", "operator")
export type Role = typeof Role.Type

/** Named token; the runs that it starts record its name. */
export interface NamedToken {
  readonly name: string
  readonly token: Redacted.Redacted
  readonly role: Role
}

/** Name of the caller with `http.token`. */
export const nameOfToken = "token"

/** The `http` settings: accepted tokens, and the hosts and origins accepted in addition to the service's own. */
export interface GuardSettings {
  /** Operator's token, without a name of its own. */
  readonly token: Option.Option<Redacted.Redacted>
  readonly tokens: ReadonlyArray<NamedToken>
  readonly hosts: ReadonlyArray<string>
  readonly origins: ReadonlyArray<string>
}

/** The settings file does not parse, or contains an invalid value. Lines are counted from 1. */
export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  file: Schema.String,
  line: Schema.NullOr(Schema.Number),
  /** Set when the setting's name does not give the place within the line. */
  column: Schema.optional(Schema.Number),
  setting: Schema.NullOr(Schema.String),
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    const place = [this.file, this.line, this.column].filter((part) => part !== null && part !== undefined)
    const at = place.join(":")
    return this.setting === null ? `${at}: ${this.reason}` : `${at}: ${this.setting} ${this.reason}`
  }
}

/** A request needs a setting that is missing in the file. */
export class SettingMissing extends Schema.TaggedError<SettingMissing>()("SettingMissing", {
  file: Schema.String,
  setting: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `The setting ${this.setting} is missing: add it to ${this.file}`
  }
}

/** A `${env:…}` or `${file:…}` reference that a request needs cannot be resolved. */
export class SettingUnresolved extends Schema.TaggedError<SettingUnresolved>()("SettingUnresolved", {
  file: Schema.String,
  setting: Schema.String,
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `The setting ${this.setting} in ${this.file} cannot be resolved: ${this.reason}`
  }
}

/** The settings file could not be read or written. */
export class SettingsUnavailable extends Schema.TaggedError<SettingsUnavailable>()("SettingsUnavailable", {
  file: Schema.String,
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `${this.file}: ${this.reason}`
  }
}

/** The working directory has a settings file that the user did not name, and has not confirmed in its current form. */
export class SettingsUnconfirmed extends Schema.TaggedError<SettingsUnconfirmed>()("SettingsUnconfirmed", {
  file: Schema.String,
  sha256: Schema.String,
  /** True if an earlier version of the file was confirmed. */
  isChanged: Schema.Boolean,
  /** Effects of using the file. */
  uses: Schema.Array(Schema.String)
}) {
  /** Question for a confirmation: the reason, and the effects of using the file. */
  get question() {
    const why = this.isChanged
      ? "has changed since it was confirmed"
      : "was found here, and nobody has confirmed it yet"
    return [`${this.file} ${why}. With it Berth would:`, ...this.uses.map((use) => `  ${use}`)].join("\n")
  }
  override get message() {
    const why = this.isChanged ? "has changed since it was confirmed" : "is not confirmed: it only was found here"
    return `${this.file} ${why}. Nothing was done. To use it from now on, run berth in that directory on a terminal ` +
      "and confirm it; to use it this once, name it: --config berth.yaml, or BERTH_CONFIG=berth.yaml. Your own " +
      "settings: --config ~/.config/berth/berth.yaml"
  }
}

export type SettingsError = SettingsInvalid | SettingMissing | SettingUnresolved | SettingsUnavailable
