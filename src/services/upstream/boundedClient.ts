import { HttpClient, type HttpClientError } from "@effect/platform"
import { Effect, Layer, Scope } from "effect"
import { makeOnce } from "../fibers/makeOnce.ts"

/** Loads and makes the client on the first call: a start without upstream calls does not wait for it. */
const loaded = Effect.flatMap(Effect.promise(() => import("./undiciClient.ts")), ({ makeClient }) => makeClient)

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
