import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { ensureHook, removeHooks } from "../../../../src/pipelines/webhooks/hooks.ts"
import { Doubles, wireWorld } from "../../../layers/worlds/wireWorld.ts"

const url = "https://platform.test/hooks"
const repository = { owner: "ann", name: "shop" }
const hooks = Effect.flatMap(Doubles, ({ gitHost }) => gitHost.state.hooks("ann/shop"))
const ensure = ensureHook(repository, url, Redacted.make("hook-secret"))
const sixTimes = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.all(Array.from({ length: 6 }, () => effect), { concurrency: "unbounded" })

describe("a repository's hooks", () => {
  it.scopedLive("are one for one address, however many set it up at once", () =>
    Effect.gen(function*() {
      const said = yield* sixTimes(ensure)
      expect(said.filter((words) => words.startsWith("created"))).toHaveLength(1)
      expect(said.filter((words) => words.startsWith("updated"))).toHaveLength(5)
      expect(yield* hooks).toHaveLength(1)
    }).pipe(Effect.provide(wireWorld())))

  it.scopedLive("are deleted once, however many do it at once", () =>
    Effect.gen(function*() {
      yield* ensure
      const counts = yield* sixTimes(removeHooks(repository, url))
      expect(counts.toSorted()).toEqual([0, 0, 0, 0, 0, 1])
      expect(yield* hooks).toEqual([])
    }).pipe(Effect.provide(wireWorld())))
})
