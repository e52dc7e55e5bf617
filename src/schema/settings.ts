import { Duration, type Option, Record as Rec, type Redacted, Schema } from "effect"
import { DurationText, findHeadersRefusal, outboundUrlRefusal, upstreamUrlRefusal } from "./basics.ts"
import { OnUnhealthy } from "./deploys.ts"
import { Port } from "./servers.ts"

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
const optional = <A, I>(description: string, schema: Schema.Schema<A, I>) => ({
  description,
  schema,
  decode: Schema.decodeUnknownEither(schema),
  fallback: undefined
})
const defaulted = <A, I>(description: string, schema: Schema.Schema<A, I>, fallback: A) => ({
  description,
  schema,
  decode: Schema.decodeUnknownEither(schema),
  fallback
})

/**
 * Description, schema and default of every setting except `servers`, by its dotted name. Requests fail if they need an
 * absent setting without a default.
 */
export const settingDefinitions = {
  "token": optional("General token: the git host's falls back to it.", Secret),
  "projects.root": defaulted(
    "Directory of the projects; callers with a token work only in it.",
    LocalPath,
    "~/projects"
  ),
  "projects.anywhere": defaulted("Operators with a token work in any directory of this machine.", YesOrNo, false),
  "platform.profile": defaulted(
    "API of the platform: neutral, or coolify for Coolify v4.",
    oneOf("neutral", "coolify"),
    "neutral"
  ),
  "platform.url": optional("Base URL of the platform's API.", HttpUrl),
  "platform.token": optional("Bearer token for the platform.", Secret),
  "platform.projectUuid": optional("Project of the platform for new applications.", Schema.NonEmptyString),
  "platform.defaultServerUuid": optional(
    "Server of the platform for applications that name none.",
    Schema.NonEmptyString
  ),
  "platform.privateKeyUuid": optional("Key of the platform with which it clones repositories.", Schema.NonEmptyString),
  "platform.webhookUrl": optional("Base of webhook addresses; the origin of platform.url unless set.", HttpUrl),
  "platform.localAliases": defaulted("Addresses that mean the platform's own host.", Texts, [
    "host.docker.internal",
    "host.containers.internal"
  ]),
  "platform.timeout": defaulted("Time-out of a request to the platform.", DurationText, Duration.seconds(30)),
  "gitHost.profile": defaulted(
    "API of the git host: neutral, gitea or forgejo.",
    oneOf("neutral", "gitea", "forgejo"),
    "neutral"
  ),
  "gitHost.url": optional("Base URL of the git host.", HttpUrl),
  "gitHost.token": optional("Token for the git host; token unless set.", Secret),
  "gitHost.sshHost": optional("Host in the SSH addresses of repositories.", Schema.NonEmptyString),
  "gitHost.sshPort": defaulted("Port in the SSH addresses of repositories.", Port, 2004),
  "gitHost.owner": optional("Owner of the repositories.", Word),
  "gitHost.webhookSecret": optional("Secret of the webhooks that Berth creates.", Secret),
  "proxy.configFile": optional("Absolute path of the proxy file on its server.", AbsolutePath),
  "proxy.server": optional("Id or name of the server that holds the proxy file.", Schema.NonEmptyString),
  "proxy.targetIp": optional("Address that routes send requests to.", Schema.NonEmptyString),
  "proxy.subnet": optional("Subnet whose addresses count as used ports.", Cidr),
  "proxy.httpsPort": defaulted("Port at which the proxy answers HTTPS.", Port, 443),
  "proxy.settle": defaulted("Time in which the proxy follows its file.", DurationText, Duration.seconds(5)),
  "deploy.healthTimeout": defaulted("Time in which a stack has to become healthy.", DurationText, Duration.seconds(60)),
  "deploy.healthInterval": defaulted("Interval of the health checks of a deploy.", DurationText, Duration.seconds(2)),
  "deploy.transfer": defaulted(
    "auto sends only missing image layers, full sends the whole archive.",
    oneOf("auto", "full"),
    "auto"
  ),
  "deploy.pull": defaulted(
    "Images that the server pulls from their registries: missing, never or always.",
    oneOf("missing", "never", "always"),
    "missing"
  ),
  "deploy.keepReleases": defaulted(
    "Number of releases that a server keeps of each stack.",
    Schema.Int.pipe(Schema.between(1, 100)).annotations(saying("must be a whole number from 1 to 100")),
    5
  ),
  "deploy.onUnhealthy": defaulted(
    "rollback restores the previous release of an unhealthy stack, keep leaves the new one.",
    OnUnhealthy,
    "rollback"
  ),
  "deploy.bridgePorts": defaulted(
    "Ports for the containers that serve while a service is recreated.",
    HostPorts,
    "30000-30999"
  ),
  "build.shell": defaulted("Program and arguments that run build scripts.", CommandLine, ["pwsh"]),
  "build.timeout": defaulted("Time-out of a build.", DurationText, Duration.minutes(30)),
  "secrets.identity": optional("Private key of age or SSH that decrypts the age files of projects.", Secret),
  "secrets.timeout": defaulted("Time-out of a command that prints a secret.", DurationText, Duration.minutes(1)),
  "editor.command": defaulted("Program and arguments that show two files side by side.", CommandLine, [
    "code",
    "--diff"
  ]),
  "runs.keep": defaulted("Time for which the history of runs is kept.", DurationText, Duration.days(90)),
  "stats.sample": defaulted(
    "onDemand samples the usage of servers that somebody looks at, always that of every stored one.",
    oneOf("onDemand", "always"),
    "onDemand"
  ),
  "telemetry.otlp": optional(
    "Base URL of a collector that gets spans and metrics by OTLP over HTTP; none unless set.",
    CollectorUrl
  ),
  "telemetry.headers": optional(
    "Headers for that collector, like Authorization=Bearer%20TOKEN; commas separate them.",
    HeaderList
  ),
  "state.url": optional("PostgreSQL database of the history of runs; berth.db beside this file unless set.", StateUrl),
  "state.takeOver": defaulted(
    "Time within which another service takes over the runs of one that is gone.",
    DurationText.pipe(
      Schema.filter((takeOver) =>
        Duration.between(takeOver, { minimum: shortestTakeOver, maximum: longestTakeOver }) ||
        "must be 5 seconds at least, and an hour at most"
      )
    ),
    Duration.seconds(10)
  ),
  "mcp.enabled": defaulted("Serve tools for agents at /mcp.", YesOrNo, true),
  "mcp.readOnly": defaulted("Limit agents to what changes nothing.", YesOrNo, false),
  "http.token": optional("Token of an operator; required to listen beyond this machine.", Secret),
  "http.hosts": defaulted("Further Host names that are accepted.", Texts, []),
  "http.origins": defaulted("Browser origins that may call the service.", Texts, [])
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
export const secretSettings = Rec.keys(settingDefinitions).filter(isSecret)

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

/** Name of an entry of `http.tokens`. */
export const TokenName = Schema.String.pipe(Schema.filter((text) =>
  text === nameOfToken
    ? `must not be "${nameOfToken}": it is reserved for http.token`
    : /^[^\s\p{C}](?:[^\p{C}]{0,98}[^\s\p{C}])?$/u.test(text) || "must be a name of up to 100 characters on one line"
))

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
  reason: Schema.String,
  /** True when the settings are not in a file that Berth could change. */
  isFixed: Schema.optional(Schema.Boolean)
}) {
  get status() {
    return this.isFixed === true ? 409 : 500
  }
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
