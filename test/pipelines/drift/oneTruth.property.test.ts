import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { drift } from "../../../src/pipelines/drift.ts"
import { upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { ProxyFileText } from "../../../src/testing/SshTest.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { declaring, memoryWorld } from "../../layers/worlds/memoryWorld.ts"
import { agreed, declare, entry, history, manual, repositories, request, steps } from "./histories.ts"

type Manual = keyof typeof manual
const changeByHand = (name: Manual): Effect.Effect<unknown, unknown, Effect.Effect.Context<(typeof manual)[Manual]>> =>
  manual[name]
const manuals = Object.keys(manual).filter((name): name is Manual => name in manual)

const world = () =>
  memoryWorld({
    files: declaring([]),
    gitHost: { repositories: Object.fromEntries(repositories.map((name) => [name, []])) }
  })

const everyThird = <A>(all: ReadonlyArray<A>) => all.filter((_, at) => at % 3 === 0)

describe("whether an application is as declared", () => {
  it("is one truth in drift, plan and verify, after any changes on either side", { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(
        entry,
        steps(manuals),
        (first, more) => Effect.runPromise(Effect.provide(history(changeByHand, first, more), world()))
      ),
      { numRuns: inPart(100, 5) }
    ))

  const whole = { name: "shop", buildpack: "autopack", port: 3000, domain: "shop.example.com" }
  const changes: ReadonlyArray<object> = [
    { port: 3001 },
    { domain: "store.example.com" },
    { branch: "main" },
    { buildpack: "imagefile" },
    { buildpack: "composestack" },
    { baseDirectory: "/web" },
    { static: true, publishDir: "/out" },
    { server: "web" },
    { repo: "store" }
  ]
  it.effect.each(inPart(changes, everyThird(changes)))(
    "is so after an upsert, not after a declared change of %j, and so again after another",
    (more) =>
      Effect.gen(function*() {
        yield* declare(whole)
        yield* upsertApp(request)
        expect(yield* agreed).toBe(0)
        yield* declare({ ...whole, ...more })
        expect(yield* agreed).toBeGreaterThan(0)
        yield* upsertApp(request)
        expect(yield* agreed).toBe(0)
      }).pipe(Effect.provide(world()))
  )

  it.effect.each(inPart(manuals, everyThird(manuals)))(
    "is not so after %s, and so again after an upsert",
    (name) =>
      Effect.gen(function*() {
        yield* declare(whole)
        yield* upsertApp(request)
        yield* manual[name]
        expect(yield* agreed).toBeGreaterThan(0)
        yield* upsertApp(request)
        expect(yield* agreed).toBe(0)
      }).pipe(Effect.provide(world()))
  )

  it.effect("is not so while the route of a domain is there that no entry declares any more", () =>
    Effect.gen(function*() {
      yield* declare(whole)
      yield* upsertApp(request)
      yield* declare({ name: "shop", buildpack: "autopack", port: 3000 })
      yield* upsertApp(request)
      expect(yield* agreed).toBe(1)
      expect((yield* drift(request)).routes).toEqual([{
        field: "route",
        label: "Proxy route",
        local: null,
        remote: "shop.example.com to http://192.168.1.20:3000",
        remedy: "No entry declares this domain any more: remove the route shop"
      }])
      expect(yield* yield* ProxyFileText).toContain("shop.example.com")
      yield* manual["no route"]
      expect(yield* agreed).toBe(0)
      expect((yield* drift(request)).exists).toBe(true)
    }).pipe(Effect.provide(world())))
})
