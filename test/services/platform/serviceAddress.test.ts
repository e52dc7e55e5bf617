import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted, Ref, TestClock } from "effect"
import { PlatformRefused } from "../../../src/schema/applications.ts"
import { coolify } from "../../../src/services/platform/coolify.ts"
import type { PlatformRequest } from "../../../src/services/platform/Platform.ts"

const needsCompose =
  "Validation failed. docker_compose_domains: Cannot set docker_compose_domains without docker_compose_raw."

interface Scene {
  /** Number of reads before the compose file is loaded. */
  readonly loadsAfter: number
  /** False for a token that may not read the compose file. */
  readonly mayRead?: boolean
  /** Domains from the creation on. */
  readonly domains?: Readonly<Record<string, { readonly domain: string }>>
  readonly service?: string
  readonly url?: string
  /** Answers 200 and sets nothing. */
  readonly ignores?: boolean
}

/** A Coolify with one stack, and the calls that it got. */
const sceneOf = (
  { domains, ignores = false, loadsAfter, mayRead = true, service = "web", url = "https://shop.example" }: Scene
) =>
  Effect.gen(function*() {
    const calls = yield* Ref.make<ReadonlyArray<string>>([])
    const asked = yield* Ref.make(0)
    const stored = yield* Ref.make<unknown>(domains ?? null)
    const send = ({ body, method }: PlatformRequest) =>
      Effect.gen(function*() {
        yield* Ref.update(calls, (all) => [...all, method])
        const count = yield* Ref.getAndUpdate(asked, (count) => count + 1)
        const isLoaded = count >= loadsAfter
        if (method === "GET") {
          return {
            uuid: "a1",
            build_pack: "dockercompose",
            docker_compose_domains: yield* Ref.get(stored),
            ...mayRead ? { docker_compose_raw: isLoaded ? "services:\n  web: {}\n  web-api: {}\n" : null } : {}
          }
        }
        if (!isLoaded) return yield* new PlatformRefused({ upstream: 422, words: needsCompose })
        if (!ignores) yield* Ref.set(stored, body?.["docker_compose_domains"])
        return { uuid: "a1" }
      })
    const platform = coolify.operations({
      send,
      webhookBase: Effect.succeed(""),
      webhookSecret: Effect.succeed(Redacted.make(""))
    })
    const setting = yield* Effect.fork(
      Effect.either(platform.setDomain({ uuid: "a1", buildPack: "composestack" }, url, service))
    )
    return { calls: Ref.get(calls), setting, stored: Ref.get(stored) }
  })

const served = { web: { domain: "https://shop.example" } }

describe("the address of a compose stack that Coolify has just created", () => {
  it.effect.each([[true], [false]])(
    "is set as soon as its file is loaded (may read it: %s)",
    ([mayRead]) =>
      Effect.gen(function*() {
        const { setting, stored } = yield* sceneOf({ loadsAfter: 5, mayRead: mayRead === true })
        yield* TestClock.adjust("20 seconds")
        expect(yield* Fiber.join(setting)).toMatchObject({ _tag: "Right" })
        expect(yield* stored).toEqual([{ name: "web", domain: "https://shop.example" }])
      })
  )

  it.effect("is there from the creation, and is not set again once its service is known", () =>
    Effect.gen(function*() {
      const { calls, setting } = yield* sceneOf({ loadsAfter: 3, domains: served })
      yield* TestClock.adjust("20 seconds")
      expect(yield* Fiber.join(setting)).toMatchObject({ _tag: "Right" })
      expect(yield* calls).toEqual(["GET", "GET", "GET", "GET"])
    }))

  it.effect("stays as the creation has brought it where the file does not come", () =>
    Effect.gen(function*() {
      const { calls, setting } = yield* sceneOf({ loadsAfter: Number.POSITIVE_INFINITY, domains: served })
      yield* TestClock.adjust("11 seconds")
      expect(yield* Fiber.join(setting)).toMatchObject({ _tag: "Right" })
      expect(new Set(yield* calls)).toEqual(new Set(["GET"]))
    }))

  it.effect("is refused as soon as the file shows that there is no such service", () =>
    Effect.gen(function*() {
      const { setting } = yield* sceneOf({
        loadsAfter: 3,
        domains: { wep: { domain: "https://shop.example" } },
        service: "wep"
      })
      yield* TestClock.adjust("20 seconds")
      const error = yield* Effect.flip(Effect.flatten(Fiber.join(setting)))
      expect("words" in error ? error.words : "").toContain("has no service \"wep\"")
    }))

  it.effect("is of the service that the file has, however it is spelled, and may be several", () =>
    Effect.gen(function*() {
      const { setting, stored } = yield* sceneOf({
        loadsAfter: 0,
        service: "web_api",
        url: "https://a.example, https://B.example/"
      })
      expect(yield* Fiber.join(setting)).toMatchObject({ _tag: "Right" })
      expect(yield* stored).toEqual([{ name: "web-api", domain: "https://a.example, https://B.example/" }])
    }))

  it.effect("is refused with what to do where the file does not come", () =>
    Effect.gen(function*() {
      for (const mayRead of [true, false]) {
        const { setting } = yield* sceneOf({ loadsAfter: Number.POSITIVE_INFINITY, mayRead })
        yield* TestClock.adjust("29 seconds")
        expect(yield* Fiber.poll(setting)).toEqual(Option.none())
        yield* TestClock.adjust("2 seconds")
        const { words } = yield* Effect.flip(Effect.flatten(Fiber.join(setting))).pipe(
          Effect.map((error) => ({ words: "words" in error ? error.words : "" }))
        )
        expect(words).toMatch(
          /^Coolify has not loaded the compose file from the repository yet.* run the upsert again$/
        )
      }
    }))

  it.effect("is read back: an answer of 200 that sets nothing is an error", () =>
    Effect.gen(function*() {
      const { setting } = yield* sceneOf({ loadsAfter: 0, ignores: true, mayRead: false })
      const error = yield* Effect.flip(Effect.flatten(Fiber.join(setting)))
      expect("words" in error ? error.words : "").toMatch(
        /^Coolify took https:\/\/shop\.example for the service "web" and did not set it/
      )
    }))
})
