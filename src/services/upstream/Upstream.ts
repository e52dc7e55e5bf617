import { HttpClient, type HttpClientError, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import {
  Clock,
  Context,
  Duration,
  Effect,
  Encoding,
  Equal,
  FiberRef,
  Hash,
  Layer,
  Option,
  type ParseResult,
  Predicate,
  RcMap,
  Redacted,
  Ref,
  Schedule,
  Scope,
  Stream
} from "effect"
import {
  BodyRefused,
  limits,
  PathSegmentRefused,
  type UpstreamFailure,
  UpstreamRefused,
  UpstreamTimeout,
  UpstreamUnavailable
} from "../../schema/basics.ts"
import { collectValidationIssues, formatPath } from "../../schema/validation.ts"
import { makeOnce } from "../limits.ts"
import { isCredentialName, scrubText } from "../masking.ts"
import { findExcessDepth } from "../parsing.ts"
import { Settings } from "../settings/Settings.ts"
import { describeRedirect } from "./advice.ts"

/** Loads and makes the client on the first call: a start without upstream calls does not wait for it. */
const loaded = Effect.flatMap(Effect.promise(() => import("./undici.ts")), ({ makeClient }) => makeClient)

/**
 * HTTP client that keeps connections to each upstream open, does not follow redirects, and aborts a response that is
 * too long. Responses can therefore be read in one piece, at half the cost of counting chunks.
 */
export const BoundedClient = Layer.scoped(
  HttpClient.HttpClient,
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const client = yield* makeOnce(Scope.extend(loaded, scope))
    return HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
      (request) => Effect.flatMap(request, (request) => Effect.flatMap(client, ({ execute }) => execute(request))),
      Effect.succeed
    )
  })
)

/**
 * Escapes one segment of a URL path. `.`, `..` and an empty segment are refused: URL parsers interpret them as another
 * path, even if they are escaped.
 */
const pathSegment = (text: string): Effect.Effect<string, PathSegmentRefused> =>
  text === "" || text === "." || text === ".."
    ? Effect.fail(new PathSegmentRefused({ segment: text }))
    : Effect.mapError(Encoding.encodeUriComponent(text), () => new PathSegmentRefused({ segment: text }))

/** Joins segments to a path that starts with `/`. */
export const buildPath = (segments: ReadonlyArray<string>): Effect.Effect<string, PathSegmentRefused> =>
  Effect.map(Effect.forEach(segments, pathSegment), (escaped) => escaped.map((part) => `/${part}`).join(""))

/** Authentication of a call: the token and its scheme in a header. */
export interface Authentication {
  readonly header: string
  /** `Bearer`, for example; empty if the header contains the token alone. */
  readonly scheme: string
  readonly token: Redacted.Redacted
}

/** A call to an upstream's JSON API. */
export interface UpstreamCall {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** Address to which the path is appended. */
  readonly base: string
  /** Segments of the path, unescaped. */
  readonly path: ReadonlyArray<string>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly authentication: Authentication
  readonly body?: unknown
  /** The response is text, not JSON. */
  readonly plain?: boolean
  /** Maximum size of the response in bytes: no more than the call is known to need. */
  readonly limit: number
  /** Extracts the upstream's message from the body of a refusal. */
  readonly refusal: (body: string) => string
  /** Timeout of a whole attempt: sending, waiting, and reading the complete response. */
  readonly timeout: Duration.Duration
  /** May be retried after a failed connection, a 429 or a 5xx: only for calls that change nothing. */
  readonly idempotent: boolean
  /** Further secrets to remove from errors, besides the token, the secrets in use and credential fields of the body. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** JSON of a response, and its status. An empty body is `null`. */
interface UpstreamAnswer {
  readonly status: number
  readonly body: unknown
}

type Send = (call: UpstreamCall) => Effect.Effect<UpstreamAnswer, UpstreamFailure>

/** Cache key of a read: equal for the same request and token without a write in between. */
class Read implements Equal.Equal {
  readonly #asked: string

  constructor(readonly call: UpstreamCall, writes: number) {
    const { authentication, base, headers, path, plain, query, timeout } = call
    this.#asked = JSON.stringify([
      writes,
      base,
      path,
      query,
      headers,
      authentication.scheme,
      plain,
      Duration.toMillis(timeout)
    ])
  }

  [Equal.symbol](that: Equal.Equal): boolean {
    return that instanceof Read && that.#asked === this.#asked &&
      Equal.equals(that.call.authentication.token, this.call.authentication.token)
  }

  [Hash.symbol](): number {
    return Hash.string(this.#asked)
  }
}

/**
 * Lets identical concurrent reads share one call, which continues while any of them waits for it. A read after a write
 * never shares a call that began before the write.
 *
 * Four callers that list 300 applications at once make 304 calls instead of 1,204; Coolify allows 200 a minute.
 */
export const shareReads = (send: Send): Effect.Effect<Send, never, Scope.Scope> =>
  Effect.gen(function*() {
    const writes = yield* Ref.make(0)
    const reads = yield* RcMap.make({ lookup: ({ call }: Read) => send(call) })
    return (call) =>
      call.method === "GET" && call.idempotent
        ? Effect.scoped(Effect.flatMap(Ref.get(writes), (count) => RcMap.get(reads, new Read(call, count))))
        : Effect.ensuring(send(call), Ref.update(writes, (count) => count + 1))
  })

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Password of each address in a text, or its user if it has no password, as written and decoded. */
const inAddresses = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/:\/\/([^/\s@]{1,4096})@/g)].flatMap(([, user = ""]) => {
    const colon = user.indexOf(":")
    // A user alone may be a token; with a password it is only a name.
    const secret = user.slice(colon + 1)
    return secret === "" || secret === "git" ? [] : [secret, decoded(secret)]
  })

const textsIn = (value: unknown, isSecret: boolean): ReadonlyArray<string> => {
  if (Predicate.isString(value)) return isSecret ? [value] : inAddresses(value)
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, isSecret))
  return Predicate.isRecord(value)
    ? Object.entries(value).flatMap(([name, item]) => textsIn(item, isSecret || isCredentialName(name)))
    : []
}

/**
 * Credentials in the body of a call, recognized by the name of their field or by their position in an address. An
 * upstream that refuses the call may repeat them.
 */
export const collectCarriedSecrets = (body: unknown): ReadonlyArray<Redacted.Redacted> =>
  [...new Set(textsIn(body, false))].map((secret) => Redacted.make(secret))

/** Reason of a failed connection, from the innermost cause. */
export const connectionReason = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  if (cause.cause instanceof Error) return connectionReason(cause.cause)
  if (cause.message !== "") return cause.message
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name
}

/** Text of a body on one line: tags removed, white space collapsed, at most 300 characters. */
export const makeExcerpt = (text: string): string => {
  const words = text
    .slice(0, 20_000)
    .replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
  return words.length > 300 ? `${words.slice(0, 300)}…` : words
}

/** Maximum bytes of all responses that one request collects. */
const mostTogether = 64 * 1024 * 1024

const bytesLeft = FiberRef.unsafeMake(Option.none<Ref.Ref<number>>())

/**
 * Limits the total size of all responses that one request collects: small responses may together exceed the available
 * memory. An existing budget remains the only one.
 */
export const withAnswerBudget = <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(bytesLeft), (outer) =>
    Option.isSome(outer)
      ? request
      : Effect.flatMap(Ref.make(mostTogether), (left) => Effect.locally(request, bytesLeft, Option.some(left))))

/** Takes bytes from the budget of the current request; fails with the reason when it is exhausted. */
const consumeBudget = (bytes: number): Effect.Effect<void, string> =>
  Effect.flatMap(
    FiberRef.get(bytesLeft),
    Option.match({
      onNone: () => Effect.void,
      onSome: (left) =>
        Effect.flatMap(Ref.updateAndGet(left, (now) => now - bytes), (now) =>
          now < 0
            ? Effect.fail(`the answers that this needs are more than ${formatMebibytes(mostTogether)} together`)
            : Effect.void)
    })
  )

/** Formats a number of bytes: `4 MiB`. */
const formatMebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024 * 100) / 100} MiB`

type Response = HttpClientResponse.HttpClientResponse

/** Value of Content-Length. */
const announcedLength = ({ headers }: Response): number | undefined => {
  const length = headers["content-length"]
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

/** Reads a response in chunks, and stops when it is too long. */
const counted = (response: Response, room: (bytes: number) => Effect.Effect<void, UpstreamUnavailable>) => {
  const parts: Array<Uint8Array> = []
  const add = (part: Uint8Array) => Effect.map(room(part.length), () => void parts.push(part))
  return Effect.map(Stream.runForEach(response.stream, add), () => new TextDecoder().decode(Buffer.concat(parts)))
}

/**
 * Reads the text of a response, within the limit of its call and the budget of the current request. A response that
 * announces its length is read in one piece, at half the cost.
 * @param call names the call in an error
 */
const readAnswerText = (
  call: string,
  response: Response,
  limit: number
): Effect.Effect<string, UpstreamUnavailable> => {
  const tooLong = (reason: string) => new UpstreamUnavailable({ call, reason, transport: false })
  const over = () => tooLong(`answered more than ${formatMebibytes(limit)}, the most that is read of it`)
  let read = 0
  const room = (bytes: number) => {
    read += bytes
    return read > limit ? over() : Effect.mapError(consumeBudget(bytes), tooLong)
  }
  // Reads only the first chunk, which cancels the rest.
  const dropped = Effect.ignore(Stream.runHead(response.stream))
  const length = announcedLength(response)
  const text: Effect.Effect<string, UpstreamUnavailable | HttpClientError.ResponseError> = length === undefined
    ? counted(response, room)
    : Effect.zipRight(Effect.tapError(room(length), () => dropped), response.text)
  return Effect.catchTag(text, "ResponseError", ({ cause, reason }) =>
    reason === "EmptyBody"
      ? Effect.succeed("")
      : new UpstreamUnavailable({ call, reason: `the answer broke off: ${connectionReason(cause)}`, transport: true }))
}

const longestWait = Duration.seconds(10)

/** `Retry-After` in milliseconds from now: a number of seconds, or a date. */
export const parseRetryAfter = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ""
  if (text === "") return undefined
  const millis = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isFinite(millis) ? Math.max(0, millis) : undefined
}

/** True when a retry may help. Timeouts are not retried: the caller has waited long enough. */
const isTransient = (error: UpstreamFailure): boolean => {
  switch (error._tag) {
    case "UpstreamUnavailable":
      return error.transport
    case "UpstreamRefused":
      return error.upstream === 429 || error.upstream >= 500
    default:
      return false
  }
}

/** Retries twice, after about 200 and 400 ms, or after the requested pause if it is longer, up to 10 s. */
const schedule = Schedule.identity<UpstreamFailure>().pipe(
  Schedule.intersect(Schedule.jittered(Schedule.exponential(Duration.millis(200)))),
  Schedule.intersect(Schedule.recurs(2)),
  Schedule.modifyDelay(([[error]], delay) =>
    error._tag === "UpstreamRefused" && error.retryAfter !== undefined
      ? Duration.max(delay, Duration.min(Duration.millis(error.retryAfter), longestWait))
      : delay
  )
)

/** Retries a call that changes nothing if its failure was transient. */
const retryTransient = <A, R>(
  call: Effect.Effect<A, UpstreamFailure, R>
): Effect.Effect<A, UpstreamFailure, R> => Effect.retry(call, { schedule, while: isTransient })

/** Calls to the platform and to the git host. */
export class Upstream extends Context.Tag("berth/Upstream")<Upstream, {
  /**
   * Sends a call and parses its JSON. Redirects are errors, so that the token is not sent to another address. Identical
   * concurrent reads share one call. Failures never contain a secret of the settings or of the call.
   */
  readonly send: (call: UpstreamCall) => Effect.Effect<UpstreamAnswer, UpstreamFailure>
}>() {}

const longestWords = 1_000
const longestSecrets = 64 * 1024

/** Address without credentials, query and fragment. */
const addressOf = (base: string) => {
  const { origin, pathname } = new URL(base)
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, "")}`
}

const tooDeep = `nested more than ${limits.jsonDepth} levels deep`

const answerOf = (
  name: string,
  call: UpstreamCall,
  response: HttpClientResponse.HttpClientResponse,
  shown: (text: string) => string
) =>
  Effect.gen(function*() {
    const { headers, status } = response
    const text = yield* readAnswerText(name, response, call.limit)
    const unavailable = (reason: string) => new UpstreamUnavailable({ call: name, reason, transport: false })
    if (status >= 300 && status < 400) {
      const url = name.slice(name.indexOf(" ") + 1)
      const redirect = { url, base: call.base, location: headers["location"] ?? "" }
      return yield* unavailable(`answered ${status}, ${shown(describeRedirect(redirect))}`)
    }
    if (status < 200 || status >= 300) {
      const retryAfter = parseRetryAfter(headers["retry-after"], yield* Clock.currentTimeMillis)
      return yield* new UpstreamRefused({
        call: name,
        upstream: status,
        // Scrubbed again: secrets that are escaped in the body appear once it is decoded.
        words: shown(call.refusal(shown(text))).slice(0, longestWords),
        ...(retryAfter === undefined ? {} : { retryAfter })
      })
    }
    if (text.trim() === "") return { status, body: null }
    if (call.plain === true) return { status, body: text.trim() }
    if (findExcessDepth(text) !== undefined) {
      return yield* unavailable(`answered ${status} with JSON that is ${tooDeep}`)
    }
    return yield* Effect.try({
      try: (): UpstreamAnswer => ({ status, body: JSON.parse(text) }),
      catch: () => {
        const kind = headers["content-type"]?.split(";")[0] ?? "an unnamed type"
        return unavailable(`answered ${status} with ${kind} that is not valid JSON: ${makeExcerpt(shown(text))}`)
      }
    })
  })

const jsonOf = (body: unknown): Effect.Effect<string, BodyRefused> =>
  Effect.try({
    try: () => JSON.stringify(body),
    // Decoded JSON can always be serialized, unless it is nested too deeply for the stack.
    catch: () => new BodyRefused({ reason: `it is ${tooDeep}` })
  }).pipe(
    Effect.filterOrFail((text) => findExcessDepth(text) === undefined, () =>
      new BodyRefused({ reason: `it is ${tooDeep}` }))
  )

const requestOf = (url: string, call: UpstreamCall) => {
  const { header, scheme, token } = call.authentication
  const secret = Redacted.value(token)
  const request = HttpClientRequest.make(call.method)(url, {
    acceptJson: true,
    headers: { ...call.headers, [header]: scheme === "" ? secret : `${scheme} ${secret}` },
    ...(call.query === undefined ? {} : { urlParams: call.query })
  })
  return call.body === undefined
    ? Effect.succeed(request)
    : Effect.map(jsonOf(call.body), (text) => HttpClientRequest.bodyText(request, text, "application/json"))
}

const make = Effect.gen(function*() {
  const settings = yield* Settings
  // Upstreams do not receive trace headers: Berth's spans are internal.
  const client = HttpClient.withTracerDisabledWhen(yield* HttpClient.HttpClient, () => true)

  const send = yield* shareReads(
    Effect.fn("Upstream.send")(function*(call) {
      const url = `${addressOf(call.base)}${yield* buildPath(call.path)}`
      const name = `${call.method} ${url}`
      const request = yield* requestOf(url, call)
      const own = [call.authentication.token, ...call.secrets ?? [], ...collectCarriedSecrets(call.body)]
      const inUse = yield* settings.secrets
      // The encoded forms of a long secret would take a hundred times its length.
      const isLong = own.reduce((length, secret) => length + Redacted.value(secret).length, 0) > longestSecrets
      const shown = (text: string) =>
        isLong ? "what it said is left out, since it may repeat what was sent" : scrubText(scrubText(text, own), inUse)
      const attempt = client.execute(request).pipe(
        Effect.mapError((error) => {
          const reason = error._tag === "RequestError" ? connectionReason(error.cause) : error.message
          return new UpstreamUnavailable({ call: name, reason: shown(reason), transport: true })
        }),
        Effect.flatMap((response) => answerOf(name, call, response, shown)),
        Effect.timeoutFail({
          duration: call.timeout,
          onTimeout: () => new UpstreamTimeout({ call: name, seconds: Duration.toSeconds(call.timeout) })
        })
      )
      return yield* (call.idempotent ? retryTransient(attempt) : attempt)
    })
  )
  return Upstream.of({ send })
})

/** Sends calls through an HTTP client that does not follow redirects. */
export const UpstreamLive: Layer.Layer<Upstream, never, HttpClient.HttpClient | Settings> = Layer.scoped(Upstream, make)

/** Describes the mismatch in a response: `answered something unexpected: [0].uuid is missing`. */
export const describeUnexpected = ({ issue }: ParseResult.ParseError): string => {
  const [mistake] = collectValidationIssues(issue)
  const place = formatPath(mistake?.path ?? [])
  return `answered something unexpected: ${place === "" ? "it" : place} ${mistake?.words ?? "does not fit"}`
}
