import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Array, Clock, Duration, Effect, Either, Fiber, Layer, Redacted, TestClock } from "effect"
import { expect } from "vitest"
import { Upstream, type UpstreamCall, UpstreamLive, withAnswerBudget } from "../../../src/services/upstream/Upstream.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"

const settings = settingsTest({ "gitHost.webhookSecret": Redacted.make("hook/secret") })

type Answer = (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<Response, "broken">

/** An HTTP client that gives these answers one after the other, the last one again and again. */
const upstreamOf = (...answers: ReadonlyArray<Answer>) => {
  const seen: Array<{ at: number; request: HttpClientRequest.HttpClientRequest; url: string }> = []
  const client = HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const answer = answers[Math.min(seen.length, answers.length - 1)]
      seen.push({ at: yield* Clock.currentTimeMillis, request, url: url.href })
      if (answer === undefined) return yield* Effect.never
      const response = yield* Effect.mapError(
        answer(request),
        () =>
          new HttpClientError.RequestError({ request, reason: "Transport", cause: new Error("connect ECONNREFUSED") })
      )
      return HttpClientResponse.fromWeb(request, response)
    })
  )
  return { seen, layer: Layer.provide(UpstreamLive, [Layer.succeed(HttpClient.HttpClient, client), settings]) }
}

const answering = (status: number, body: string | null = "{}", headers: Record<string, string> = {}): Answer => () =>
  Effect.succeed(new Response(body, { status, headers: { "content-type": "application/json", ...headers } }))
const broken: Answer = () => Effect.fail("broken")

const call: UpstreamCall = {
  method: "GET",
  base: "http://user:pass@upstream.test/base/?x=1",
  path: ["applications", "..%2Fx"],
  authentication: { header: "authorization", scheme: "Bearer", token: Redacted.make("the-token") },
  timeout: Duration.seconds(30),
  limit: 4 * 1024 * 1024,
  refusal: (body) => body,
  idempotent: true
}

/** Sends the call while time passes as fast as it can. */
const sending = (sent: UpstreamCall) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.flatMap(Upstream, (upstream) => upstream.send(sent)))
    yield* TestClock.adjust(Duration.minutes(5))
    return yield* Fiber.join(fiber)
  })

describe("Upstream", () => {
  it.effect("sends the token, escaped segments and JSON", () => {
    const { layer, seen } = upstreamOf(answering(201, "{\"uuid\":\"a\",\"more\":[1]}"))
    return Effect.gen(function*() {
      const answer = yield* sending({ ...call, method: "POST", idempotent: false, query: { a: "b c" }, body: { x: 1 } })
      expect(answer).toEqual({ status: 201, body: { uuid: "a", more: [1] } })
      expect(seen).toHaveLength(1)
      expect(seen[0]?.url).toBe("http://upstream.test/base/applications/..%252Fx?a=b+c")
      expect({ ...seen[0]?.request.headers }).toEqual({
        accept: "application/json",
        authorization: "Bearer the-token",
        "content-length": "7",
        "content-type": "application/json"
      })
    }).pipe(Effect.provide(layer), Effect.withSpan("outer"))
  })

  it.effect.each([[204, null], [200, ""], [200, " \n"]] as const)("reads an empty %s as null", ([status, body]) => {
    const { layer } = upstreamOf(answering(status, body))
    return Effect.gen(function*() {
      expect((yield* sending(call)).body).toBeNull()
    }).pipe(Effect.provide(layer))
  })

  it.effect("asks again after a broken connection and a 5xx", () => {
    const { layer, seen } = upstreamOf(broken, answering(503), answering(200, "[]"))
    return Effect.gen(function*() {
      expect((yield* sending(call)).body).toEqual([])
      expect(seen).toHaveLength(3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("gives up after three times", () => {
    const { layer, seen } = upstreamOf(answering(500, "{\"message\":\"Server Error\"}"))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending(call))
      expect(error).toMatchObject({ _tag: "UpstreamRefused", upstream: 500, words: "{\"message\":\"Server Error\"}" })
      expect(seen).toHaveLength(3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("waits as long as a 429 asks for", () => {
    const { layer, seen } = upstreamOf(answering(429, "{}", { "retry-after": "7" }), answering(200))
    return Effect.gen(function*() {
      yield* sending(call)
      expect(seen.map(({ at }) => at)).toEqual([0, 7_000])
    }).pipe(Effect.provide(layer))
  })

  it.effect("waits for no more than ten seconds", () => {
    const { layer, seen } = upstreamOf(answering(429, "{}", { "retry-after": "3600" }))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending(call))
      expect(error).toMatchObject({ _tag: "UpstreamRefused", upstream: 429 })
      expect(seen.map(({ at }) => at)).toEqual([0, 10_000, 20_000])
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([answering(500), answering(429, "{}", { "retry-after": "1" }), broken])(
    "never repeats what changes something",
    (answer) => {
      const { layer, seen } = upstreamOf(answer)
      return Effect.gen(function*() {
        yield* Effect.flip(sending({ ...call, method: "POST", idempotent: false, body: {} }))
        expect(seen).toHaveLength(1)
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("does not repeat what was turned down", () => {
    const { layer, seen } = upstreamOf(answering(404, "{\"message\":\"Not found.\"}"))
    return Effect.gen(function*() {
      yield* Effect.flip(sending(call))
      expect(seen).toHaveLength(1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("ends a call that is never answered", () => {
    const { layer, seen } = upstreamOf()
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending(call))
      expect(error.message).toBe("GET http://upstream.test/base/applications/..%252Fx: no answer within 30 s")
      expect(seen).toHaveLength(1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("ends a call whose body never ends", () => {
    const endless = new ReadableStream<Uint8Array>({ start: (stream) => stream.enqueue(new TextEncoder().encode("[")) })
    const { layer } = upstreamOf(() => Effect.succeed(new Response(endless)))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending(call))
      expect(error._tag).toBe("UpstreamTimeout")
    }).pipe(Effect.provide(layer))
  })

  it.effect.each(
    [
      [
        "<html><style>x{}</style><h1>Sign in</h1></html>",
        "text/html",
        "200 with text/html that is not valid JSON: Sign in"
      ],
      ["[{\"uuid\":", "application/json", "200 with application/json that is not valid JSON: [{\"uuid\":"]
    ] as const
  )("names an answer that is not JSON: %s", ([body, kind, expected]) => {
    const { layer, seen } = upstreamOf(answering(200, body, { "content-type": kind }))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending(call))
      expect(error.message).toContain(expected)
      expect(seen).toHaveLength(1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("cuts a page that answers instead of an API", () => {
    const { layer } = upstreamOf(answering(200, `<p>${"long ".repeat(100_000)}`, { "content-type": "text/html" }))
    return Effect.gen(function*() {
      expect((yield* Effect.flip(sending(call))).message.length).toBeLessThan(600)
    }).pipe(Effect.provide(layer))
  })

  it.effect.each(["http://elsewhere.test/login", "/login"])("follows no redirect to %s", (location) => {
    const { layer, seen } = upstreamOf(answering(302, "", { location }))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending(call))
      expect(error.message).toContain(`a redirect to ${new URL(location, "http://upstream.test").origin}`)
      expect(seen).toHaveLength(1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("shows no secret that upstream repeats", () => {
    const { layer } = upstreamOf(answering(400, "{\"message\":\"bad token the-token and secret s3\\\"cret\"}"))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending({ ...call, secrets: [Redacted.make("s3\"cret")] }))
      expect(error).toMatchObject({ words: "{\"message\":\"bad token *** and secret ***\"}" })
    }).pipe(Effect.provide(layer))
  })

  it.effect("shows no secret of an answer that is not JSON", () => {
    const { layer } = upstreamOf(answering(200, "no such token: the-token, nor s3cret"))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending({ ...call, secrets: [Redacted.make("s3cret")] }))
      expect(error.message).toMatch(/no such token: \*\*\*, nor \*\*\*$/)
    }).pipe(Effect.provide(layer))
  })

  it.effect("shows no secret that the settings hold, however its words escape it", () => {
    const said = "{\"message\":\"no hook\\/secret, h\\u006fok/secret nor hook%2Fsecret\"}"
    const { layer } = upstreamOf(answering(400, said))
    return Effect.gen(function*() {
      const refusal = (body: string) => String(JSON.parse(body).message)
      const error = yield* Effect.flip(sending({ ...call, refusal }))
      expect(error).toMatchObject({ words: "no ***, *** nor ***" })
    }).pipe(Effect.provide(layer))
  })

  it.effect("shows no secret that the call carries in its body", () => {
    const body = { name: "shop", git_repository: "https://me:s3cret%2Fx@git.test/a.git", deploy_token: "t0ken" }
    const { layer } = upstreamOf(answering(422, JSON.stringify({ said: body, again: "s3cret/x t0ken" })))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending({ ...call, method: "POST", idempotent: false, body }))
      expect(error.message).toContain("shop")
      expect(error.message).not.toMatch(/s3cret|t0ken/)
    }).pipe(Effect.provide(layer))
  })

  it.effect("leaves out what is said to a call with more secrets than can be looked for", () => {
    const long = "k".repeat(70_000)
    const { layer } = upstreamOf(answering(422, JSON.stringify({ message: `no: ${long}` })))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(
        sending({ ...call, method: "POST", idempotent: false, body: { private_key: long } })
      )
      expect(error.message).toContain("what it said is left out")
      expect(error.message).not.toContain("kkk")
    }).pipe(Effect.provide(layer))
  })

  it.effect("cuts words after it has scrubbed them", () => {
    const { layer } = upstreamOf(answering(400, `${"x".repeat(995)}hook/secret`))
    return Effect.gen(function*() {
      expect(yield* Effect.flip(sending(call))).toMatchObject({ words: `${"x".repeat(995)}***` })
    }).pipe(Effect.provide(layer))
  })

  it.effect("takes deep JSON for a fault of the upstream", () => {
    const { layer, seen } = upstreamOf(answering(200, `${"[".repeat(100_000)}${"]".repeat(100_000)}`))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(sending(call))
      expect(error).toMatchObject({ _tag: "UpstreamUnavailable" })
      expect(error.message).toMatch(/answered 200 with JSON that is nested more than 64 levels deep$/)
      expect(seen).toHaveLength(1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("takes a body that is too deep for a fault of whoever sent it", () => {
    const { layer, seen } = upstreamOf(answering(200))
    return Effect.gen(function*() {
      for (const depth of [70, 100_000]) {
        const body: unknown = JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`)
        const error = yield* Effect.flip(sending({ ...call, method: "PATCH", idempotent: false, body }))
        expect(error).toMatchObject({ _tag: "BodyRefused", status: 400 })
        expect(error.message).toBe("This JSON cannot be sent on: it is nested more than 64 levels deep")
      }
      expect(seen).toHaveLength(0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("puts the token where the upstream wants it", () => {
    const { layer, seen } = upstreamOf(answering(200))
    return Effect.gen(function*() {
      yield* sending({ ...call, authentication: { ...call.authentication, header: "x-api-key", scheme: "" } })
      expect(seen[0]?.request.headers).toMatchObject({ "x-api-key": "the-token" })
      expect(seen[0]?.request.headers).not.toHaveProperty("authorization")
    }).pipe(Effect.provide(layer))
  })

  describe("reads within limits", () => {
    const text = JSON.stringify("x".repeat(1_000_000))
    const announced = answering(200, text, { "content-length": String(text.length) })

    it.effect.each([announced, answering(200, text)])("of a call", (answer) => {
      const { layer, seen } = upstreamOf(answer)
      return Effect.gen(function*() {
        expect((yield* sending(call)).body).toHaveLength(1_000_000)
        const error = yield* Effect.flip(sending({ ...call, limit: 512 * 1024 }))
        expect(error.message).toMatch(/answered more than 0.5 MiB, the most that is read of it$/)
        expect(seen).toHaveLength(2)
      }).pipe(Effect.provide(layer))
    })

    it.effect.each([announced, answering(200, text)])("of all the calls of a request together", (answer) => {
      const { layer } = upstreamOf(answer)
      return Effect.gen(function*() {
        const outcomes = yield* withAnswerBudget(withAnswerBudget(
          Effect.forEach(Array.range(1, 80), (app) => Effect.either(sending({ ...call, path: [`${app}`] })), {
            concurrency: 8
          })
        ))
        expect(outcomes.filter(Either.isRight)).toHaveLength(67)
        const [error] = Array.getLefts(outcomes)
        expect(error?.message).toMatch(/the answers that this needs are more than 64 MiB together$/)
        expect((yield* sending(call)).body).toHaveLength(1_000_000)
      }).pipe(Effect.provide(layer))
    })
  })
})
