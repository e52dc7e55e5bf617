import { HttpClient, HttpClientError, HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { overHandlers } from "../../../src/client/node/overHandlers.ts"

/** Another process that ends before it answers, as often as it is found. */
const ended = (asked: Array<string>) =>
  HttpClient.make((request) => {
    asked.push(request.method)
    return Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause: new Error("reset") }))
  }).pipe(HttpClient.mapRequest(HttpClientRequest.prependUrl("http://other.invalid")))

const clientOf = (times: number, asked: Array<string>) => {
  let found = 0
  return overHandlers(
    () => {
      asked.push("here")
      return Promise.resolve(
        new Response("event: end\ndata: {}\n\n", { headers: { "content-type": "text/event-stream" } })
      )
    },
    {
      door: "script",
      outlives: () => Effect.succeed(false),
      elsewhere: () => Effect.sync(() => found++ < times ? Option.some(ended(asked)) : Option.none())
    }
  )
}

describe("a request to another process, which ends meanwhile", () => {
  it.effect("is answered here where it only reads: the store has what that process did", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const { runEvents } = yield* clientOf(2, asked)
      yield* Effect.ignore(Stream.runDrain(Stream.take(runEvents("01j"), 1)))
      expect(asked.slice(0, 3)).toEqual(["GET", "GET", "here"])
    }))

  it.effect("is not sent twice where it changes something", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const { use } = yield* clientOf(9, asked)
      const failure = yield* Effect.flip(use((api) => api.cancelRun({ path: { id: "01j" } })))
      expect([failure.reason, asked]).toEqual(["unreachable", ["POST"]])
    }))
})
