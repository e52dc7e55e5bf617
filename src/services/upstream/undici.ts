import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { Effect, type Scope } from "effect"
import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import { isLinkLocal } from "../../schema/basics.ts"

/** Resolves a name; refuses one that resolves to the addresses where clouds serve credentials. */
export const checkedLookup: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error !== null || first === undefined) return callback(error ?? new Error("the name has no address"), "", 0)
    if (addresses.some(({ address }) => isLinkLocal(address))) {
      return callback(new Error("its name leads to a link-local address, which is refused"), "", 0)
    }
    return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family)
  })

/** Maximum size of any response; calls have limits of their own. */
const mostBytes = 32 * 1024 * 1024

const agent = Effect.acquireRelease(
  Effect.sync(() => new Agent({ connect: { lookup: checkedLookup }, maxResponseSize: mostBytes })),
  (agent) => Effect.promise(() => agent.destroy())
)

const turnOfTheLoop = Effect.async<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

/**
 * Delivers one response per turn of the event loop. Undici sends the next request on a connection one turn after it was
 * requested: if several responses arrived together, all next requests would be sent together, after the last response
 * was handled.
 * For 300 applications behind a platform with 20 ms latency, listed 16 at a time, this saves a fifth: 0.53 s instead of
 * 0.67 s.
 */
const oneATurn = Effect.zipWith(
  HttpClient.HttpClient,
  Effect.makeSemaphore(1),
  (client, turns) => HttpClient.transformResponse(client, Effect.zipLeft(turns.withPermits(1)(turnOfTheLoop)))
)

/** Makes the client over undici; its connections close with the scope. */
export const makeClient: Effect.Effect<HttpClient.HttpClient, never, Scope.Scope> = Effect.flatMap(
  agent,
  (agent) =>
    oneATurn.pipe(
      Effect.provide(NodeHttpClient.layerUndiciWithoutDispatcher),
      Effect.provideService(NodeHttpClient.Dispatcher, agent)
    )
)
