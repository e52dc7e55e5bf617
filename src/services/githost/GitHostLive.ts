import { Duration, Effect, Layer, Option, Redacted } from "effect"
import type { UpstreamFailure } from "../../schema/basics/Upstream.ts"
import { type GitHostFailure, GitHostRefused, GitHostUnavailable } from "../../schema/webhooks/GitHook.ts"
import { describeRefusal } from "../platform/describeRefusal.ts"
import { Settings, type SettingValues } from "../settings/Settings.ts"
import { Upstream } from "../upstream/Upstream.ts"
import { GitHost } from "./GitHost.ts"
import type { GitHostConnection } from "./profile.ts"
import { profiles } from "./profiles.ts"

const timeout = Duration.seconds(30)

const inDomainWords = (error: UpstreamFailure): GitHostFailure => {
  switch (error._tag) {
    case "UpstreamRefused":
      return new GitHostRefused({ upstream: error.upstream, words: error.words })
    case "UpstreamUnavailable":
      return new GitHostUnavailable({ call: error.call, reason: error.reason })
    case "UpstreamTimeout":
      return new GitHostUnavailable({ call: error.call, reason: `no answer within ${error.seconds} s` })
    case "PathSegmentRefused":
    case "BodyRefused":
      return error
  }
}

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const upstream = yield* Upstream

  const tokenOrGeneral = ({ find, get }: SettingValues) =>
    Effect.gen(function*() {
      // An empty token is none.
      const own = Option.filter(yield* find("gitHost.token"), (token) => Redacted.value(token) !== "")
      const token = Option.isSome(own) ? own : yield* find("token")
      return Option.isSome(token) ? token.value : yield* get("gitHost.token")
    })

  const connection: GitHostConnection = {
    send: Effect.fn("GitHost.send")(function*({ body, method, path, query, secrets }) {
      const now = yield* settings.now
      const base = yield* now.get("gitHost.url")
      const token = yield* tokenOrGeneral(now)
      const answer = yield* Effect.mapError(
        upstream.send({
          method,
          base,
          path,
          timeout,
          headers: { "content-type": "application/json" },
          // Limit for a page of hooks or a repository, thousands of times their usual size.
          limit: 4 * 1024 * 1024,
          authentication: { header: "authorization", scheme: "token", token },
          refusal: describeRefusal,
          idempotent: method === "GET",
          ...(query === undefined ? {} : { query }),
          ...(body === undefined ? {} : { body }),
          ...(secrets === undefined ? {} : { secrets })
        }),
        inDomainWords
      )
      return answer.body
    })
  }

  const inUse = Effect.map(settings.get("gitHost.profile"), (profile) => profiles[profile](connection))
  return GitHost.of(Effect.serviceFunctions(inUse))
})

/** Git host at the address in the settings, through the profile in the settings. */
export const GitHostLive: Layer.Layer<GitHost, never, Settings | Upstream> = Layer.effect(GitHost, make)
