import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { Clock, Duration, Effect, Redacted } from "effect"
import { version } from "../../schema/version.ts"
import { Post } from "../notify/Post.ts"

const warningPause = Duration.toMillis("10 minutes")

/**
 * Client that sends to a collector in the same way as notifications: redirects are not followed, and the timeout is ten
 * seconds. Logs one warning per outage, and at most one in ten minutes.
 */
export const makeCollectorClient = (url: string): Effect.Effect<HttpClient.HttpClient, never, Post> =>
  Effect.map(Post, (post) => {
    const { host } = new URL(url)
    let warnedAt = Number.NEGATIVE_INFINITY
    let isAway = false
    const warn = (reason: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (isAway || now - warnedAt < warningPause) return Effect.void
        isAway = true
        warnedAt = now
        return Effect.logWarning(
          `Telemetry was not exported: ${host}: ${reason}. Runs are not affected, and later exports are tried. ` +
            "Check telemetry.otlp and telemetry.headers"
        )
      })
    const recovered = Effect.suspend(() => {
      if (!isAway) return Effect.void
      isAway = false
      return Effect.logInfo(`Telemetry is exported to ${host} again`)
    })
    return HttpClient.make((request, to) => {
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const headers = { ...request.headers, "user-agent": `Berth/${version}` }
      return post.send(Redacted.make(to.href), { headers, body }).pipe(
        Effect.tapError(({ message }) => warn(message)),
        Effect.zipLeft(recovered),
        Effect.map((status) => HttpClientResponse.fromWeb(request, new Response(null, { status }))),
        Effect.mapError(({ message }) =>
          new HttpClientError.RequestError({ request, reason: "Transport", description: message })
        )
      )
    })
  })
