import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { readPlatformAddresses } from "../../../src/pipelines/bridge/readPlatformAddresses.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { PlatformCalls } from "../../../src/testing/PlatformTest.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../layers/worlds/memoryWorld.ts"

/** The addresses, and the calls to the platform that they took. */
const asked = (world: MemoryWorld) =>
  Effect.gen(function*() {
    const found = yield* readPlatformAddresses("/srv/shop")
    return { ...found, calls: (yield* yield* PlatformCalls).map(([operation]) => operation) }
  }).pipe(Effect.provide(memoryWorld(world)))

describe("the platform's addresses of a server", () => {
  it.effect("are those of the servers that platform.json names", () =>
    Effect.gen(function*() {
      expect(yield* asked({ files: declaring({ name: "shop", server: "web", port: 80 }) })).toEqual({
        addresses: ["192.168.1.30"],
        problem: "",
        calls: ["servers"]
      })
      // Its own host serves its domains itself.
      expect(yield* asked({ files: declaring({ name: "shop", server: "here" }) })).toMatchObject({ addresses: [] })
    }))

  it.effect("are not asked for without such a server, or without a platform", () =>
    Effect.gen(function*() {
      const nothing = { addresses: [], problem: "", calls: [] }
      expect(yield* asked({ files: { "/srv/shop/compose.yml": "services: {}" } })).toEqual(nothing)
      expect(yield* asked({ files: declaring({ name: "shop", port: 80 }) })).toEqual(nothing)
      expect(yield* asked({ files: declaring("{") })).toEqual(nothing)
      expect(yield* asked({ files: declaring({ name: "shop", server: "web" }), without: ["platform.url"] }))
        .toEqual(nothing)
    }))

  it.effect("are not known while the platform is away, or without its server", () =>
    Effect.gen(function*() {
      const begin = "the address of the platform's server \"web\" is not known: "
      const files = declaring({ name: "shop", server: "web" })
      expect((yield* asked({ files, platform: { failing: { servers: 503 } } })).problem).toMatch(
        new RegExp(`^${begin}Platform API 503`)
      )
      expect((yield* asked({ files, platform: { servers: [] } })).problem).toMatch(
        new RegExp(`^${begin}The platform has no server "web"`)
      )
      const silent = Layer.effect(
        Platform,
        Effect.map(Platform, (platform) => ({ ...platform, servers: Effect.never }))
      ).pipe(Layer.provideMerge(memoryWorld({ files })))
      const waiting = yield* Effect.fork(Effect.provide(readPlatformAddresses("/srv/shop"), silent))
      yield* TestClock.adjust("3 seconds")
      expect(yield* Fiber.join(waiting)).toEqual({
        addresses: [],
        problem: `${begin}it did not answer within 3 seconds`
      })
    }))
})
