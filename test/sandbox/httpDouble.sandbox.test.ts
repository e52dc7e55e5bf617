import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Ref } from "effect"
import { HttpFault, makeHttpDouble } from "../../src/sandbox/httpDouble.ts"
import { eventually } from "./eventually.ts"
import { requestTo } from "./request.ts"

const start = Effect.gen(function*() {
  const served = yield* Ref.make(0)
  const double = yield* makeHttpDouble({
    part: "double",
    authorization: Redacted.make("Bearer t"),
    unauthorized: { status: 401, body: {} },
    handle: ({ segments }) => Effect.as(Ref.update(served, (n) => n + 1), { status: 200, body: { segments } })
  })
  return { double, served, send: requestTo(double.url, { authorization: "Bearer t" }) }
})

describe("a double", () => {
  it.scoped("records method, path, query, headers and body, and forgets them when told", () =>
    Effect.gen(function*() {
      const { double, send } = yield* start
      const answer = yield* send("POST", "/a%2Fb/c?force=true", { name: "x" })
      expect(answer.body).toEqual({ segments: ["a/b", "c"] })
      expect(yield* double.calls).toMatchObject([
        { method: "POST", path: "/a%2Fb/c", query: { force: "true" }, body: { name: "x" }, headers: { accept: "*/*" } }
      ])
      yield* double.forgetCalls
      expect(yield* double.calls).toEqual([])
    }))

  it.scoped("refuses bodies that are too large and paths that are no paths", () =>
    Effect.gen(function*() {
      const { double, send, served } = yield* start
      expect((yield* send("POST", "/x", "x".repeat(2_000_000))).status).toBe(413)
      expect((yield* send("GET", "/%zz")).status).toBe(400)
      expect(yield* served).toBe(0)
      expect((yield* double.calls).map(({ path }) => path)).toEqual(["/%zz"])
    }))

  it.scoped("goes wrong as told, as often as told, and only where told", () =>
    Effect.gen(function*() {
      const { double, send, served } = yield* start
      const reply = { status: 503, body: { message: "busy" }, headers: { "retry-after": "1" } }
      yield* double.fail({ method: "POST", path: /^\/x/ }, HttpFault.Answer({ reply }), { times: 2 })
      expect((yield* send("GET", "/x")).status).toBe(200)
      expect((yield* send("POST", "/y")).status).toBe(200)
      const first = yield* send("POST", "/x1")
      expect(first).toMatchObject({ status: 503, body: { message: "busy" } })
      expect(first.headers.get("retry-after")).toBe("1")
      expect((yield* send("POST", "/x2")).status).toBe(503)
      expect((yield* send("POST", "/x3")).status).toBe(200)
      expect(yield* served).toBe(3)

      yield* double.fail({}, HttpFault.Html({ status: 502 }), { times: 1000 })
      expect((yield* send("GET", "/x")).body).toContain("<html>")
      yield* double.healed
      expect((yield* send("GET", "/x")).status).toBe(200)
    }))

  it.scoped("can have done what was asked although its answer is lost", () =>
    Effect.gen(function*() {
      const { double, send, served } = yield* start
      yield* double.fail({}, HttpFault.Reset(), { applied: true })
      yield* Effect.flip(send("POST", "/x"))
      expect(yield* served).toBe(1)
      yield* double.fail({}, HttpFault.Reset())
      yield* Effect.flip(send("POST", "/x"))
      expect(yield* served).toBe(1)
    }))

  it.scoped("breaks answers in the ways of a network", () =>
    Effect.gen(function*() {
      const { double, send } = yield* start
      yield* double.fail({}, HttpFault.HalfJson())
      expect((yield* Effect.flip(send("GET", "/x"))).message).toMatch(/JSON/)
      yield* double.fail({}, HttpFault.CutBody())
      expect((yield* Effect.flip(send("GET", "/x"))).message).toMatch(/terminated/)
      yield* double.fail({}, HttpFault.Redirect({ status: 302, location: "http://elsewhere.test/" }))
      const moved = yield* send("GET", "/x")
      expect(moved.status).toBe(302)
      expect(moved.headers.get("location")).toBe("http://elsewhere.test/")
    }))

  it.scoped("answers late, by the machine's clock whatever clock the program has", () =>
    Effect.gen(function*() {
      const { double, send } = yield* start
      yield* double.fail({}, HttpFault.Delay({ duration: "100 millis" }))
      const before = performance.now()
      expect((yield* send("GET", "/x")).status).toBe(200)
      expect(performance.now() - before).toBeGreaterThan(90)
    }))

  it.live("never answers", () =>
    Effect.scoped(Effect.gen(function*() {
      const { double, send } = yield* start
      yield* double.fail({}, HttpFault.Hang())
      const waiting = yield* Effect.fork(send("GET", "/hang"))
      yield* eventually(Effect.map(double.calls, (calls) => calls.some(({ path }) => path === "/hang")))
      expect(waiting.unsafePoll()).toBe(null)
      yield* Fiber.interrupt(waiting)
    })))

  it.live("ends although a call still waits for its answer", () =>
    Effect.gen(function*() {
      const waiting = yield* Effect.scoped(Effect.gen(function*() {
        const { double, send } = yield* start
        yield* double.fail({}, HttpFault.Hang())
        const fiber = yield* Effect.forkDaemon(Effect.flip(send("GET", "/x")))
        yield* eventually(Effect.map(double.calls, (calls) => calls.length === 1))
        return fiber
      }))
      expect((yield* Fiber.join(waiting)).message).toMatch(/fetch failed/)
    }))
})
