import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { exchange } from "../fixtures/network/exchange.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"

const head = (port: number) =>
  `POST /api/servers HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n`

describe.concurrent("a caller who stops in the middle of", () => {
  it.scopedLive.each<[what: string, sent: (port: number) => string]>([
    ["the request line", () => "GET /api/health"],
    ["the headers", (port) => `GET /api/health HTTP/1.1\r\nHost: localhost:${port}\r\nX-Slow: `],
    ["the body", (port) => `${head(port)}Content-Length: 100\r\n\r\n{"name":`],
    [
      "a body whose length is not told",
      (port) => `${head(port)}Transfer-Encoding: chunked\r\n\r\n8\r\n{"name":\r\n`
    ]
  ])("%s is told so and cut off, and nothing happens", ([, sent]) =>
    Effect.gen(function*() {
      const { port, request } = yield* startService(yield* settingsFileWith(""))
      // Node's own time-out is five minutes.
      const answer = yield* exchange(port, sent(port)).pipe(
        Effect.timeoutFail({ duration: "50 seconds", onTimeout: () => new Error("it is waited for") })
      )
      expect(answer.status).toBe(408)
      expect(JSON.parse(answer.body)).toEqual({ error: "The request did not arrive in time" })
      expect((yield* request("GET", "/api/servers")).body).toEqual([])
    }))

  it.scopedLive("the headers is waited for less long than one who stops in the middle of the body", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(""))
      const order: Array<string> = []
      const stopped = (what: string, sent: string) =>
        Effect.tap(exchange(port, sent), ({ status }) => Effect.sync(() => order.push(`${what}: ${status}`)))
      yield* Effect.all([
        stopped("body", `${head(port)}Content-Length: 100\r\n\r\n`),
        Effect.delay(stopped("headers", head(port)), "3 seconds")
      ], { concurrency: 2 })
      expect(order).toEqual(["headers: 408", "body: 408"])
    }))
})
