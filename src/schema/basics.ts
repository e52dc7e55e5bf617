import { Duration, Option, ParseResult, Schema } from "effect"
import { cut, quoteInput } from "./words.ts"

/**
 * Limits of untrusted input: users' files, requests, and responses of platforms and servers. Input over a limit is
 * refused with a message that names it. In bytes unless stated otherwise.
 */
export const limits = {
  /** A file of a project or of the settings: `compose.yml`, `.env`, `container.json`, `platform.json`, `berth.yaml`. */
  file: 1024 * 1024,
  /** Value of a variable after interpolation. */
  value: 64 * 1024,
  /** Maximum nesting of arrays and objects in JSON. */
  jsonDepth: 64,
  /** Maximum nesting of collections in YAML. */
  yamlDepth: 64,
  /** Names, values, punctuation and line breaks in YAML, which determine the cost of parsing. */
  yamlTokens: 50_000,
  /** Tokens of the proxy file, which contains the routes of every application: enough for about 1,000. */
  proxyTokens: 150_000,
  /** Anchors and aliases in YAML. */
  yamlAliases: 1_000
} as const

const reasonOf = (written: string | number): string =>
  typeof written === "number" || /^\s*[\d.]{1,20}\s*$/.test(written)
    ? "must have a unit: write \"30 seconds\""
    : "is not a duration: write it like \"20 seconds\""

/** Duration in words: `20 seconds`, `5 minutes`. A bare number is refused, because its unit would be ambiguous. */
export const DurationText = Schema.transformOrFail(
  Schema.Union(Schema.String, Schema.Number),
  Schema.DurationFromSelf,
  {
    decode: (written, _, ast) =>
      Option.match(typeof written === "number" ? Option.none() : Duration.decodeUnknown(written.trim()), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, written, reasonOf(written))),
        onSome: (duration) => ParseResult.succeed(duration)
      }),
    encode: (duration) => ParseResult.succeed(`${Duration.toMillis(duration)} millis`)
  }
).annotations({ identifier: "DurationText", jsonSchema: { type: "string" } })

/** A field of a request contains an unusable local path. */
export class LocalPathInvalid extends Schema.TaggedError<LocalPathInvalid>()("LocalPathInvalid", {
  field: Schema.String,
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${this.field} ${quoteInput(this.path)} ${this.reason}`
  }
}

/** An upstream answered with an unsuccessful status. `words` is its message on one line, without secrets. */
export class UpstreamRefused extends Schema.TaggedError<UpstreamRefused>()("UpstreamRefused", {
  call: Schema.String,
  upstream: Schema.Number,
  words: Schema.String,
  /** Delay that the upstream asks for, in milliseconds. */
  retryAfter: Schema.optional(Schema.Number)
}) {
  override get message() {
    return `${this.call}: ${this.upstream} ${this.words}`
  }
}

/** An upstream could not be reached, or sent an invalid response. */
export class UpstreamUnavailable extends Schema.TaggedError<UpstreamUnavailable>()("UpstreamUnavailable", {
  call: Schema.String,
  reason: Schema.String,
  /** True if the connection failed, so that a retry may help. */
  transport: Schema.Boolean
}) {
  override get message() {
    return `${this.call}: ${this.reason}`
  }
}

/** An upstream did not complete its response in time. */
export class UpstreamTimeout extends Schema.TaggedError<UpstreamTimeout>()("UpstreamTimeout", {
  call: Schema.String,
  seconds: Schema.Number
}) {
  override get message() {
    return `${this.call}: no answer within ${this.seconds} s`
  }
}

/** A path segment that a URL cannot contain. */
export class PathSegmentRefused extends Schema.TaggedError<PathSegmentRefused>()("PathSegmentRefused", {
  segment: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${quoteInput(this.segment)} cannot be part of an address`
  }
}

/** A body that cannot be serialized as JSON; the caller's fault. */
export class BodyRefused extends Schema.TaggedError<BodyRefused>()("BodyRefused", { reason: Schema.String }) {
  readonly status = 400
  override get message() {
    return `This JSON cannot be sent on: ${this.reason}`
  }
}

/** Input that cannot be sent in a request. */
export type Unsendable = PathSegmentRefused | BodyRefused

export type UpstreamFailure = UpstreamRefused | UpstreamUnavailable | UpstreamTimeout | Unsendable

const fields = {
  /** Limit that was reached. */
  most: Schema.Number,
  /** Caller that has reached its limit; absent if the limit is that of all callers. */
  caller: Schema.optional(Schema.String)
}

/** The maximum number of event streams is open. */
export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()("TooManyStreams", fields) {
  readonly status = 429
  /** Seconds. */
  readonly retryAfter = 10
  override get message() {
    const whose = this.caller === undefined ? "all callers together have" : `"${this.caller}" has`
    return `Too many watchers: ${whose} ${this.most} runs and logs open already, which is as many as can be watched at ` +
      "a time. Stop watching some of them, or ask for the run or the logs as they are"
  }
}

/** The maximum number of runs is unfinished. */
export class TooManyRuns extends Schema.TaggedError<TooManyRuns>()("TooManyRuns", fields) {
  readonly status = 429
  /** Seconds. */
  readonly retryAfter = 30
  override get message() {
    const whose = this.caller === undefined ? "of all callers together" : `of "${this.caller}"`
    return `Too many runs: ${this.most} ${whose} wait or are under way, which is as many as there can be. Nothing was ` +
      "started: wait until some of them have ended, or cancel those that are no longer wanted"
  }
}

const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** Headers that the HTTP client sets itself. */
const ofRequest = /^(?:connection|content-.*|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const pairsOf = (text: string) =>
  text.split(",").map((part) => {
    const at = part.indexOf("=")
    return { name: part.slice(0, at).trim(), value: at < 1 ? undefined : decoded(part.slice(at + 1).trim()) }
  })

/**
 * Reason why a string is not a list of headers; undefined if it is. Never repeats the input, which may contain a
 * secret.
 */
export const findHeadersRefusal = (text: string): string | undefined => {
  const pairs = pairsOf(text)
  if (pairs.some(({ name, value }) => !token.test(name) || value === undefined || !/^[\x20-\x7e]+$/.test(value))) {
    return "must be headers like Authorization=Bearer%20TOKEN, separated by commas"
  }
  return pairs.some(({ name }) => ofRequest.test(name)) ? "must not name headers that a request itself has" : undefined
}

/** Parses a list of headers in the form of `OTEL_EXPORTER_OTLP_HEADERS`: names and percent-encoded values. */
export const parseHeaderList = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    pairsOf(text).flatMap(({ name, value }) => value === undefined ? [] : [[name.toLowerCase(), value]])
  )

/** The eight groups of an IPv6 address as URLs and resolvers write it; undefined for anything else. */
const groupsOf = (address: string): ReadonlyArray<number> | undefined => {
  if (!address.includes(":") || !/^[0-9a-f:.]+$/.test(address)) return undefined
  const hex = address.replace(
    /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/,
    (_, a, b, c, d) => `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`
  )
  const [before = [], after = [], ...others] = hex.split("::").map((part) => part === "" ? [] : part.split(":"))
  const missing = 8 - before.length - after.length
  if (others.length > 0 || missing < 0) return undefined
  return [...before, ...Array.from({ length: missing }, () => "0"), ...after].map((group) => Number.parseInt(group, 16))
}

/** IPv4 address that an IPv6 address leads to: mapped, compatible, NAT64 and 6to4. */
const findEmbedded = (groups: ReadonlyArray<number>): string | undefined => {
  const [a, b, c, d, e, f, g = 0, h = 0] = groups
  const isZero = (...parts: ReadonlyArray<number | undefined>) => parts.every((part) => part === 0)
  const dotted = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join(".")
  if (a === 0x2002) return dotted(b, c)
  const isNat = a === 0x64 && b === 0xff9b && (c === 1 || isZero(c, d, e, f))
  const isMapped = isZero(a, b, c, d) && (isZero(e, f) || isZero(e) && f === 0xffff || isZero(f) && e === 0xffff)
  return isNat || isMapped ? dotted(g, h) : undefined
}

/** Addresses beside the link-local ones where clouds serve the credentials of a machine. */
const metadata4 = new Set(["100.100.100.200", "168.63.129.16", "192.0.0.192"])

/**
 * True for link-local addresses, where clouds serve the credentials of a machine, and for the other addresses where they
 * do.
 */
export const isLinkLocal = (address: string): boolean => {
  const plain = address.toLowerCase().replace(/^\[|\]$|\.$/g, "")
  const groups = groupsOf(plain)
  if (groups === undefined) return /^169\.254(\.\d{1,3}){2}$/.test(plain) || metadata4.has(plain)
  const [first = 0, second, third] = groups
  if ((first & 0xffc0) === 0xfe80 || first === 0xfd00 && second === 0xec2) return true
  if (first === 0xfd20 && second === 0xce && third === 0) return true
  const embedded = findEmbedded(groups)
  return embedded !== undefined && isLinkLocal(embedded)
}

/** Reason to refuse the address of an upstream; undefined if it may be used. */
export const upstreamUrlRefusal = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return "is not an http:// or https:// address"
  return isLinkLocal(url.hostname) ? "must not be a link-local address" : undefined
}

/** True for loopback names and addresses. */
const isThisMachine = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

/** Reason to refuse the URL of an outgoing request; undefined if it may be used. */
export const outboundUrlRefusal = (text: string): string | undefined => {
  if (!URL.canParse(text)) return "must be an https:// address"
  const { hostname, password, protocol, username } = new URL(text)
  if (protocol !== "https:" && !(protocol === "http:" && isThisMachine(hostname))) {
    return "must be an https:// address, or an http:// one of this machine"
  }
  if (username !== "" || password !== "") return "must not contain a user or a password"
  return isLinkLocal(hostname) ? "must not be a link-local address" : undefined
}

const planHashWords = "must be the planHash of a plan, as it was answered"

/** Digests of a plan's inputs and decisions; opaque to callers, and valid until one of them changes. */
export const PlanHash = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9_-]{20,1000}$/, { message: () => planHashWords })
)

const mostMoved = 10

/** Remedy for a stale plan in the API's terms; the command line replaces it with its own. */
export const planAgain = "Make a new plan, and send its planHash"

/** The message about a stale plan and the changes since it was made. */
export const describeMovedFacts = (plan: string, moved: ReadonlyArray<string>): string => {
  const others = moved.length - mostMoved
  const named = moved.slice(0, mostMoved).map(cut).join("; ") + (others > 0 ? `; and ${others} more` : "")
  return `${plan} no longer holds: ${named}. Nothing was changed. ${planAgain}`
}

/** Maximum number of words of a command. */
const mostArguments = 100

/** Argument of a command; sent as a line, so that control characters are refused. */
const Argument = Schema.String.pipe(
  Schema.filter((text) =>
    // oxlint-disable-next-line no-control-regex
    (!/[\u0000-\u001f\u007f]/.test(text) && text.length <= 4_096) ||
    "must be a line of up to 4096 characters without control characters"
  )
)

/** Program with its arguments, executed without a shell. */
export const HookCommand = Schema.NonEmptyArray(Argument).pipe(
  Schema.filter((words) =>
    (words[0] !== "" && words.length <= mostArguments) || "must begin with a program, and have up to 100 items"
  )
).annotations({ identifier: "HookCommand" })
