import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import type { HttpBodyError } from "@effect/platform/HttpBody"
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { UpstreamRefused, UpstreamTimeout, UpstreamUnavailable } from "../../schema/Upstream.ts"
import type { UpstreamFailure } from "../../schema/Upstream.ts"
import { scrubbed } from "../secrets/scrubbed.ts"
import { tooLong } from "./boundedClient.ts"
import { excerpt } from "./excerpt.ts"
import { retryAfterMillis, retrying } from "./retry.ts"
import { pathOf } from "./segment.ts"
import { shareReads } from "./sharedReads.ts"

/** A call to an upstream's JSON API. */
export interface UpstreamCall {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** The address that the path is appended to. */
  readonly base: string
  /** The segments of the path, not yet escaped. */
  readonly path: ReadonlyArray<string>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as `Authorization: <scheme> <token>`. */
  readonly authorization: { readonly scheme: string; readonly token: Redacted.Redacted }
  readonly body?: unknown
  /** Whether the answer is text and not JSON. */
  readonly plain?: boolean
  /** For a whole attempt: sending, waiting, and reading the answer to its end. */
  readonly timeout: Duration.Duration
  /** Whether a failure of the connection, a 429 or a 5xx may be met by asking again. Only what changes nothing may be. */
  readonly repeatable: boolean
  /** What must not be seen in an error, beside the token. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** The JSON of an answer, and the status it came with. An empty body is `null`. */
export interface UpstreamAnswer {
  readonly status: number
  readonly body: unknown
}

/** Calls to the platform and to the git host. */
export class Upstream extends Context.Tag("berth/Upstream")<Upstream, {
  /**
   * Sends a call and reads its JSON. Redirects are errors: the token goes to no other address. Reads that ask the same
   * at the same time are one call.
   */
  readonly send: (call: UpstreamCall) => Effect.Effect<UpstreamAnswer, UpstreamFailure>
}>() {}

const maxText = 4_000

/** The address without what a URL may carry of credentials, query and fragment. */
const addressOf = (base: string) => {
  const { origin, pathname } = new URL(base)
  return `${origin}${pathname.replace(/\/+$/, "")}`
}

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  if (cause.cause instanceof Error) return reasonOf(cause.cause)
  if (cause.message !== "") return cause.message
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name
}

const textOf = (name: string, response: HttpClientResponse.HttpClientResponse) =>
  Effect.catchTag(response.text, "ResponseError", ({ cause, reason }) => {
    if (reason === "EmptyBody") return Effect.succeed("")
    const long = tooLong(cause)
    return long === undefined
      ? new UpstreamUnavailable({ call: name, reason: `the answer broke off: ${reasonOf(cause)}`, transport: true })
      : new UpstreamUnavailable({ call: name, reason: long, transport: false })
  })

const answerOf = (name: string, call: UpstreamCall, response: HttpClientResponse.HttpClientResponse) =>
  Effect.gen(function*() {
    const { headers, status } = response
    const text = yield* textOf(name, response)
    const shown = () => scrubbed(text, [call.authorization.token, ...call.secrets ?? []])
    if (status >= 300 && status < 400) {
      const target = headers["location"] ?? ""
      const to = URL.canParse(target, call.base) ? new URL(target, call.base).origin : "another address"
      const reason = `answered ${status}, a redirect to ${to}, which was not followed: ` +
        "put the address that answers itself into the settings"
      return yield* new UpstreamUnavailable({ call: name, reason, transport: false })
    }
    if (status < 200 || status >= 300) {
      const retryAfter = retryAfterMillis(headers["retry-after"], yield* Clock.currentTimeMillis)
      return yield* new UpstreamRefused({
        call: name,
        upstream: status,
        text: shown().slice(0, maxText),
        ...(retryAfter === undefined ? {} : { retryAfter })
      })
    }
    if (text.trim() === "") return { status, body: null }
    if (call.plain === true) return { status, body: text.trim() }
    return yield* Effect.try({
      try: (): UpstreamAnswer => ({ status, body: JSON.parse(text) }),
      catch: () => {
        const kind = headers["content-type"]?.split(";")[0] ?? "an unnamed type"
        const reason = `answered ${status} with ${kind} that is not valid JSON: ${excerpt(shown())}`
        return new UpstreamUnavailable({ call: name, reason, transport: false })
      }
    })
  })

const requestOf = (url: string, call: UpstreamCall) => {
  const { scheme, token } = call.authorization
  const request = HttpClientRequest.make(call.method)(url, {
    acceptJson: true,
    headers: { ...call.headers, authorization: `${scheme} ${Redacted.value(token)}` },
    ...(call.query === undefined ? {} : { urlParams: call.query })
  })
  return call.body === undefined ? Effect.succeed(request) : HttpClientRequest.bodyJson(request, call.body)
}

const unsent = (name: string) => (error: HttpBodyError) =>
  new UpstreamUnavailable({ call: name, reason: `the body is no JSON: ${error.reason._tag}`, transport: false })

const make = Effect.gen(function*() {
  // Berth's spans are its own: upstreams get no trace headers.
  const client = HttpClient.withTracerDisabledWhen(yield* HttpClient.HttpClient, () => true)

  const send = yield* shareReads(
    Effect.fn("Upstream.send")(function*(call) {
      const url = `${addressOf(call.base)}${yield* pathOf(call.path)}`
      const name = `${call.method} ${url}`
      const request = yield* Effect.mapError(requestOf(url, call), unsent(name))
      const attempt = client.execute(request).pipe(
        Effect.mapError((error) => {
          const reason = error._tag === "RequestError" ? reasonOf(error.cause) : error.message
          return new UpstreamUnavailable({ call: name, reason, transport: true })
        }),
        Effect.flatMap((response) => answerOf(name, call, response)),
        Effect.timeoutFail({
          duration: call.timeout,
          onTimeout: () => new UpstreamTimeout({ call: name, seconds: Duration.toSeconds(call.timeout) })
        })
      )
      return yield* (call.repeatable ? retrying(attempt) : attempt)
    })
  )
  return Upstream.of({ send })
})

/** Calls through an HTTP client that follows no redirects and bounds what it reads. */
export const UpstreamLive: Layer.Layer<Upstream, never, HttpClient.HttpClient> = Layer.scoped(Upstream, make)
