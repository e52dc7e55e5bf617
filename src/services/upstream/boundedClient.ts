import { HttpClient, type HttpClientError } from "@effect/platform"
import { Effect, Layer, Scope } from "effect"
import { makeOnce } from "../fibers/makeOnce.ts"

/** The client, loaded and made with the first call: a start that calls no upstream yet does not wait for it. */
const loaded = Effect.flatMap(Effect.promise(() => import("./undiciClient.ts")), ({ makeClient }) => makeClient)

/**
 * An HTTP client that keeps connections to each upstream open, follows no redirects, and breaks off an answer that is too
 * long: the answer can be read in one piece then, which costs half of what counting its parts does.
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
