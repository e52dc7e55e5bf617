import { Agent, request } from "@effect/platform-node/Undici"
import { Clock, Duration, Effect, Redacted, type Scope } from "effect"
import { checkedLookup } from "../upstream/undici.ts"
import { connectionReason, parseRetryAfter } from "../upstream/Upstream.ts"
import { PostFailed, type RenderedMessage } from "./Post.ts"

const timeout = Duration.seconds(10)
const mostOfAnswer = 4 * 1024

const agent = Effect.acquireRelease(
  Effect.sync(() => new Agent({ connect: { lookup: checkedLookup }, maxResponseSize: mostOfAnswer })),
  (agent) => Effect.promise(() => agent.destroy())
)

const firstOf = (header: string | ReadonlyArray<string> | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0]

/** Makes the client, whose connections close with the scope. */
export const makePost: Effect.Effect<
  (url: Redacted.Redacted, rendered: RenderedMessage) => Effect.Effect<number, PostFailed>,
  never,
  Scope.Scope
> = Effect.map(agent, (dispatcher) => (url, { body, headers }) =>
  Effect.gen(function*() {
    const { headers: answered, statusCode } = yield* Effect.tryPromise({
      try: async (signal) => {
        const answer = await request(Redacted.value(url), { method: "POST", headers, body, dispatcher, signal })
        // Discard the body; a long one is cut off by closing its connection.
        await answer.body.dump({ limit: mostOfAnswer }).catch(() => undefined)
        return answer
      },
      catch: (error) => new PostFailed({ reason: `it cannot be reached: ${connectionReason(error)}` })
    })
    if (statusCode >= 200 && statusCode < 300) return statusCode
    const pause = parseRetryAfter(firstOf(answered["retry-after"]), yield* Clock.currentTimeMillis)
    return yield* new PostFailed({
      reason: statusCode >= 300 && statusCode < 400
        ? `it answered ${statusCode}, a redirect, which is not followed`
        : `it answered ${statusCode}`,
      ...pause === undefined ? {} : { pause }
    })
  }).pipe(
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => new PostFailed({ reason: `it did not answer within ${Duration.toSeconds(timeout)} seconds` })
    })
  ))
