import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema } from "effect"
import { upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { makeSteps, Steps } from "../../../src/services/runs/Steps.ts"
import { localText } from "../../../src/testing/LocalFilesTest.ts"
import { declaring, memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const request = { projectPath: "/srv/shop" }
const world = { files: declaring({ name: "shop", port: 3000, domain: "shop.example.com" }) }
const expected = [
  { field: "_action", label: "Action", old: null, new: "CREATED" },
  { field: "HOST_PORT", label: "HOST_PORT", old: null, new: "3000" },
  { field: "traefik_route", label: "Proxy route", old: null, new: "shop.example.com to http://192.168.1.20:3000" }
]

/** Steps whose results outlive the process, which is killed when a step has done its work and its result is not kept. */
const attempt = (kept: Map<string, unknown>, killedIn: string) =>
  Effect.gen(function*() {
    const steps: Steps["Type"] = {
      ...yield* makeSteps(),
      hasResult: (step) => Effect.succeed(kept.has(step)),
      perform: (step, schema, effect) =>
        Effect.gen(function*() {
          if (kept.has(step)) return yield* Effect.orDie(Schema.decodeUnknown(schema)(kept.get(step)))
          const result = yield* effect(killedIn === "")
          if (step === killedIn) return yield* Effect.dieMessage("killed")
          kept.set(step, yield* Effect.orDie(Schema.encode(schema)(result)))
          return result
        })
    }
    return yield* Effect.provideService(upsertApp(request), Steps, steps)
  })

describe("an upsert whose process is killed after a change", () => {
  it.effect.each(["env", "route"])(
    "made by the step %s tells it in the changelog all the same",
    (step) =>
      Effect.gen(function*() {
        const kept = new Map<string, unknown>()
        const killed = yield* Effect.exit(attempt(kept, step))
        expect(Exit.isFailure(killed) && Cause.pretty(killed.cause)).toContain("killed")
        const { changelogEntry, steps } = yield* attempt(kept, "")
        expect(changelogEntry.changes).toEqual(expected)
        expect(JSON.parse(yield* localText("/srv/shop/platform.changelog.json"))).toEqual([changelogEntry])
        expect(steps.find((each) => each.step === step)?.detail).toContain("before the service ended")
      }).pipe(Effect.provide(memoryWorld(world)))
  )

  it.effect("tells of no change that was not made", () =>
    Effect.gen(function*() {
      yield* attempt(new Map(), "")
      const again = yield* attempt(new Map(), "")
      expect(again.changelogEntry.changes.map(({ field }) => field)).not.toContain("HOST_PORT")
      expect(again.changelogEntry.changes.map(({ field }) => field)).not.toContain("traefik_route")
    }).pipe(Effect.provide(memoryWorld(world))))
})
