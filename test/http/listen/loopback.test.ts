import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { isLoopback, requireToken } from "../../../src/http/listen.ts"
import { servicesLive } from "../../../src/services/ServicesLive.ts"
import { settingsFileWith } from "../../fixtures/programs/service.ts"

const own = ["localhost", "LOCALHOST", "127.0.0.1", "127.9.8.7", "::1", "[::1]", "::ffff:127.0.0.1"]
const others = [
  "0.0.0.0",
  "::",
  "[::]",
  "",
  "*",
  "192.168.1.20",
  "10.127.0.0.1",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "::ffff:10.0.0.1",
  "127.1.evil",
  "fe80::1",
  "berth.lan"
]

describe("an address", () => {
  it.each(own)("%s is this machine's own", (host) => {
    expect(isLoopback(host)).toBe(true)
  })
  it.each(others)("%j is one that others may reach", (host) => {
    expect(isLoopback(host)).toBe(false)
  })
})

describe("listening", () => {
  const outcome = (host: string, settings: string) =>
    Effect.gen(function*() {
      const services = Layer.provide(servicesLive(yield* settingsFileWith(settings)), NodeContext.layer)
      return yield* requireToken(host).pipe(Effect.provide(services), Effect.either)
    })

  it.scopedLive("beyond this machine wants a token, and says how to get along", () =>
    Effect.gen(function*() {
      for (const host of others) {
        expect(yield* outcome(host, ""), host).toMatchObject({ _tag: "Left", left: { _tag: "TokenRequired", host } })
        expect((yield* outcome(host, "http: { token: open-sesame }\n"))._tag, host).toBe("Right")
      }
      expect(yield* outcome("0.0.0.0", "http: { token: \"\" }\n")).toMatchObject({
        left: { message: expect.stringMatching(/^Refusing to listen on 0\.0\.0\.0.*set http\.token in .*berth\.yaml/) }
      })
    }))

  it.scopedLive("on this machine wants none", () =>
    Effect.gen(function*() {
      for (const host of own) expect((yield* outcome(host, ""))._tag, host).toBe("Right")
    }))
})
