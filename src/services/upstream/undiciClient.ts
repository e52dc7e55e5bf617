import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { Effect, type Scope } from "effect"

/** The longest answer of all: calls have smaller limits of their own. */
const mostBytes = 32 * 1024 * 1024

const agent = Effect.acquireRelease(
  Effect.sync(() => new Agent({ maxResponseSize: mostBytes })),
  (agent) => Effect.promise(() => agent.destroy())
)

const turnOfTheLoop = Effect.async<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

/**
 * Hands out one answer a turn of the event loop. Undici sends the next request on a connection a turn after it was
 * asked to: of answers that came together, all the next requests would go out together, after the last was dealt with.
 * Of 300 applications behind a platform that takes 20 ms, listed 16 at a time, it saves a fifth: 0.53 s against 0.67 s.
 */
const oneATurn = Effect.zipWith(
  HttpClient.HttpClient,
  Effect.makeSemaphore(1),
  (client, turns) => HttpClient.transformResponse(client, Effect.zipLeft(turns.withPermits(1)(turnOfTheLoop)))
)

/** The client itself, made over undici; its connections close with the scope. */
export const makeClient: Effect.Effect<HttpClient.HttpClient, never, Scope.Scope> = Effect.flatMap(
  agent,
  (agent) =>
    oneATurn.pipe(
      Effect.provide(NodeHttpClient.layerUndiciWithoutDispatcher),
      Effect.provideService(NodeHttpClient.Dispatcher, agent)
    )
)
