import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import {
  BodyRefused,
  type UpstreamFailure,
  UpstreamRefused,
  UpstreamTimeout,
  UpstreamUnavailable
} from "../../schema/basics/Upstream.ts"
import { limits } from "../../schema/words/limits.ts"
import { findExcessDepth } from "../parsing/json.ts"
import { scrubText } from "../secrets/scrubText.ts"
import { Settings } from "../settings/Settings.ts"
import { collectCarriedSecrets } from "./collectCarriedSecrets.ts"
import { connectionReason } from "./connectionReason.ts"
import { makeExcerpt } from "./makeExcerpt.ts"
import { buildPath } from "./pathSegment.ts"
import { readAnswerText } from "./readAnswerText.ts"
import { parseRetryAfter, retryTransient } from "./retry.ts"
import { shareReads } from "./sharedReads.ts"
import type { UpstreamAnswer, UpstreamCall } from "./UpstreamCall.ts"

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
      const target = headers["location"] ?? ""
      const to = URL.canParse(target, call.base) ? new URL(target, call.base).origin : "another address"
      return yield* unavailable(
        `answered ${status}, a redirect to ${to}, which was not followed: ` +
          "put the address that answers itself into the settings"
      )
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
