import { HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type ServerResponse } from "node:http"
import { expect } from "vitest"
import { listenOnLoopback } from "../../../../src/sandbox/httpDouble.ts"
import { BoundedClient } from "../../../../src/services/upstream/Upstream.ts"

const together = 8

/** A server that answers so many requests at the same time. */
const inBunches = Effect.gen(function*() {
  let waiting: Array<ServerResponse> = []
  const server = createServer((_, response) => {
    waiting.push(response)
    if (waiting.length < together) return
    for (const one of waiting) one.end("{}")
    waiting = []
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  return yield* listenOnLoopback("upstream", server)
})

/** Answers how many turns the event loop has made. */
const turns = Effect.acquireRelease(
  Effect.sync(() => {
    const counted = { turns: 0, next: setImmediate(() => count()) }
    const count = () => {
      counted.turns++
      counted.next = setImmediate(count)
    }
    return counted
  }),
  (counted) => Effect.sync(() => clearImmediate(counted.next))
)

describe("the HTTP client", () => {
  it.scopedLive("hands out answers that came together in turns of their own", () =>
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const port = yield* inBunches
      const counted = yield* turns
      const answered = Effect.map(client.get(`http://127.0.0.1:${port}`), () => counted.turns)
      const bunch = Effect.all(Array.from({ length: together }, () => answered), { concurrency: "unbounded" })
      for (let round = 0; round < 3; round++) expect(new Set(yield* bunch).size).toBe(together)
    }).pipe(Effect.provide(BoundedClient)))
})
