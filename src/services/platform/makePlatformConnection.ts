import { Effect, Option, Redacted } from "effect"
import { PlatformRefused, PlatformTimeout, PlatformUnavailable } from "../../schema/applications/PlatformApp.ts"
import type { Unsendable, UpstreamFailure } from "../../schema/basics/Upstream.ts"
import type { Settings } from "../settings/Settings.ts"
import type { Upstream } from "../upstream/Upstream.ts"
import { type PlatformConnection, type PlatformProfile, usualLimit } from "./PlatformProfile.ts"

type Failure = PlatformRefused | PlatformUnavailable | PlatformTimeout | Unsendable

const asPlatformFailure = (error: UpstreamFailure): Failure => {
  switch (error._tag) {
    case "UpstreamRefused":
      return new PlatformRefused({ upstream: error.upstream, words: error.words })
    case "UpstreamUnavailable":
      return new PlatformUnavailable({ call: error.call, reason: error.reason })
    case "UpstreamTimeout":
      return new PlatformTimeout({ call: error.call, seconds: error.seconds })
    case "PathSegmentRefused":
    case "BodyRefused":
      return error
  }
}

/** Calls of a profile; each uses the current address and token of the settings. */
export const makePlatformConnection = (
  settings: Settings["Type"],
  upstream: Upstream["Type"],
  { authentication, refusal }: PlatformProfile
): PlatformConnection => ({
  send: Effect.fn("Platform.send")(function*({ body, changes, limit, method, path, plain, query, secrets }) {
    const { get } = yield* settings.now
    const base = yield* get("platform.url")
    const token = yield* get("platform.token")
    const timeout = yield* get("platform.timeout")
    const answer = yield* Effect.mapError(
      upstream.send({
        method,
        base,
        path,
        timeout,
        limit: limit ?? usualLimit,
        authentication: { ...authentication, token },
        refusal,
        idempotent: method === "GET" && changes !== true,
        ...(plain === undefined ? {} : { plain }),
        ...(query === undefined ? {} : { query }),
        ...(body === undefined ? {} : { body }),
        ...(secrets === undefined ? {} : { secrets })
      }),
      asPlatformFailure
    )
    return answer.body
  }),
  webhookBase: Effect.gen(function*() {
    const base = yield* settings.find("platform.webhookUrl")
    const url = Option.isSome(base) ? base.value : new URL(yield* settings.get("platform.url")).origin
    return url.replace(/(?<!\/)\/+$/, "")
  }),
  webhookSecret: Effect.map(
    settings.find("gitHost.webhookSecret"),
    Option.getOrElse(() => Redacted.make(""))
  )
})
