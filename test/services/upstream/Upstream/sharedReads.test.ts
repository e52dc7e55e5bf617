import { describe, expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Redacted } from "effect"
import { shareReads, type UpstreamCall } from "../../../../src/services/upstream/Upstream.ts"

const list: UpstreamCall = {
  method: "GET",
  base: "https://platform.test",
  path: ["applications"],
  authentication: { header: "authorization", scheme: "Bearer", token: Redacted.make("token") },
  timeout: Duration.seconds(30),
  limit: 4 * 1024 * 1024,
  refusal: (body) => body,
  idempotent: true
}
const write: UpstreamCall = { ...list, method: "PATCH", path: ["applications", "1"], idempotent: false }
const trigger: UpstreamCall = { ...list, path: ["deploy"], idempotent: false }

/** Calls that each wait until they are let through; the answer of each is its number. */
const gated = Effect.gen(function*() {
  const sent: Array<UpstreamCall> = []
  const gates: Array<Deferred.Deferred<void>> = []
  let interrupted = 0
  const send = yield* shareReads((call) =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const status = sent.push(call)
      gates.push(gate)
      yield* Deferred.await(gate)
      return { status, body: null }
    }).pipe(Effect.onInterrupt(() =>
      Effect.sync(() => {
        interrupted++
      })
    ))
  )
  /** Starts a call and lets it come as far as it does. */
  const start = (call: UpstreamCall) =>
    Effect.tap(Effect.fork(Effect.map(send(call), ({ status }) => status)), () => settle)
  const settle = Effect.yieldNow().pipe(Effect.repeatN(20))
  const through = (number: number) =>
    Effect.forEach(gates.slice(number - 1, number), (gate) => Deferred.succeed(gate, undefined))
  return { interrupted: () => interrupted, send, sent, settle, start, through }
})

describe("reads at the same time", () => {
  it.scoped("that ask the same are one call", () =>
    Effect.gen(function*() {
      const { sent, start, through } = yield* gated
      const both = [yield* start(list), yield* start({ ...list })]
      expect(sent).toHaveLength(1)
      yield* through(1)
      expect(yield* Fiber.join(Fiber.all(both))).toEqual([1, 1])
      yield* start(list)
      expect(sent).toHaveLength(2)
    }))

  it.scoped("that ask something else, or with another token, are calls of their own", () =>
    Effect.gen(function*() {
      const { sent, start } = yield* gated
      yield* start(list)
      yield* start({ ...list, path: ["servers"] })
      yield* start({ ...list, query: { page: "2" } })
      yield* start({ ...list, headers: { accept: "text/plain" } })
      yield* start({ ...list, base: "https://other.test" })
      yield* start({ ...list, authentication: { ...list.authentication, token: Redacted.make("another") } })
      expect(sent).toHaveLength(6)
    }))

  it.scoped("share nothing across a write that has ended in between", () =>
    Effect.gen(function*() {
      const { sent, start, through } = yield* gated
      const before = yield* start(list)
      const writing = yield* start(write)
      const during = yield* start(list)
      expect(sent).toHaveLength(2)
      yield* through(2)
      yield* Fiber.join(writing)
      const after = yield* start(list)
      expect(sent).toHaveLength(3)
      yield* through(1)
      yield* through(3)
      expect(yield* Fiber.join(Fiber.all([before, during, after]))).toEqual([1, 1, 3])
    }))

  it.scoped("are not shared where a GET changes something, and that counts as a write", () =>
    Effect.gen(function*() {
      const { sent, start, through } = yield* gated
      yield* start(list)
      const first = yield* start(trigger)
      yield* start(trigger)
      expect(sent).toHaveLength(3)
      yield* through(2)
      yield* Fiber.join(first)
      yield* start(list)
      expect(sent).toHaveLength(4)
    }))

  it.scoped("go on while one caller waits, and end with the last", () =>
    Effect.gen(function*() {
      const { interrupted, sent, start, through } = yield* gated
      const one = yield* start(list)
      const other = yield* start(list)
      yield* Fiber.interrupt(one)
      expect(interrupted()).toBe(0)
      yield* through(1)
      expect(yield* Fiber.join(other)).toBe(1)
      const last = yield* start(list)
      yield* Fiber.interrupt(last)
      expect(interrupted()).toBe(1)
      expect(sent).toHaveLength(2)
    }))
})
