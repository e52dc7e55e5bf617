import { describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { expect } from "vitest"
import { HttpFault, listenOnLoopback } from "../../../src/sandbox/httpDouble.ts"
import { makePlatformDouble, type PlatformDouble } from "../../../src/sandbox/platform.ts"
import { BoundedClient, Upstream, type UpstreamCall, UpstreamLive } from "../../../src/services/upstream/Upstream.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"

const token = Redacted.make("the-token")
const call: Omit<UpstreamCall, "base"> = {
  method: "GET",
  path: ["applications"],
  authentication: { header: "authorization", scheme: "Bearer", token },
  timeout: Duration.seconds(5),
  limit: 4 * 1024 * 1024,
  refusal: (body) => body,
  idempotent: true
}
const callTo = ({ url }: PlatformDouble): UpstreamCall => ({ ...call, base: url })
const sending = (call: UpstreamCall) => Effect.flatMap(Upstream, (upstream) => upstream.send(call))

const live = Layer.provide(UpstreamLive, [BoundedClient, settingsTest()])

describe("Upstream over HTTP", () => {
  it.live("reads JSON", () =>
    Effect.gen(function*() {
      const platform = yield* makePlatformDouble({ token })
      expect(yield* sending(callTo(platform))).toEqual({ status: 200, body: [] })
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("sends the token to no other address", () =>
    Effect.gen(function*() {
      const platform = yield* makePlatformDouble({ token })
      const other = yield* makePlatformDouble({ token })
      yield* platform.fail({}, HttpFault.Redirect({ status: 307, location: `${other.url}/applications` }))
      const error = yield* Effect.flip(sending(callTo(platform)))
      expect(error.message).toContain(`a redirect to ${other.url}, which was not followed`)
      expect(yield* other.calls).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("asks again when a connection breaks, before or within the answer", () =>
    Effect.gen(function*() {
      const platform = yield* makePlatformDouble({ token })
      for (const fault of [HttpFault.Reset(), HttpFault.CutBody()]) {
        yield* platform.forgetCalls
        yield* platform.fail({}, fault)
        expect((yield* sending(callTo(platform))).body).toEqual([])
        expect(yield* platform.calls).toHaveLength(2)
      }
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("never repeats a POST whose answer was lost", () =>
    Effect.gen(function*() {
      const platform = yield* makePlatformDouble({ token })
      yield* platform.fail({}, HttpFault.Reset())
      const error = yield* Effect.flip(
        sending({ ...callTo(platform), method: "POST", idempotent: false, body: { name: "a" } })
      )
      expect(error._tag).toBe("UpstreamUnavailable")
      expect(yield* platform.calls).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("ends a call that hangs", () =>
    Effect.gen(function*() {
      const platform = yield* makePlatformDouble({ token })
      yield* platform.fail({}, HttpFault.Hang())
      const error = yield* Effect.flip(sending({ ...callTo(platform), timeout: Duration.millis(200) }))
      expect(error.message).toContain("no answer within 0.2 s")
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("reads no more than its limit, and does not ask again", () =>
    Effect.gen(function*() {
      let asked = 0
      const megabyte = Buffer.alloc(1024 * 1024, " ")
      const port = yield* listenOnLoopback(
        "endless",
        createServer((_, response) => {
          asked++
          const more = () => {
            while (!response.destroyed && response.write(megabyte));
          }
          response.on("drain", more).on("error", () => undefined)
          more()
        })
      )
      const error = yield* Effect.flip(sending({ ...call, base: `http://127.0.0.1:${port}` }))
      expect(error).toMatchObject({
        _tag: "UpstreamUnavailable",
        reason: "answered more than 4 MiB, the most that is read of it"
      })
      expect(asked).toBe(1)
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("says what kept it from a connection", () =>
    Effect.gen(function*() {
      const gone = yield* Effect.scoped(makePlatformDouble({ token }))
      const error = yield* Effect.flip(sending({ ...callTo(gone), idempotent: false }))
      expect(error.message).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/applications: .*ECONNREFUSED/)
    }).pipe(Effect.provide(live)))
})
