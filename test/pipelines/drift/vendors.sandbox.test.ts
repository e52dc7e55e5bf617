import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { drift } from "../../../src/pipelines/drift.ts"
import { decideUpsert, upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { differencesIn } from "../../../src/schema/upsert.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { inTurn } from "../../fixtures/thorough.ts"
import { declaring } from "../../layers/worlds/memoryWorld.ts"
import { Vendors, vendors, vendorWorld } from "../../layers/worlds/vendorWorld.ts"

const request = { projectPath: "/srv/shop" }
const entry = { name: "shop", buildpack: "autopack", port: 3000, domain: "shop.example.com" }

const declare = (more: object) =>
  Effect.flatMap(
    LocalFiles,
    (files) => files.write("/srv/shop/platform.json", new TextEncoder().encode(JSON.stringify({ ...entry, ...more })))
  )

/** Differences that drift finds; a plan has changes exactly then. */
const found = Effect.gen(function*() {
  const live = yield* drift(request)
  const { plan: { action, stays = [] } } = yield* decideUpsert(request)
  expect(differencesIn(live) === 0).toBe(action === "none" && stays.length === 0)
  const { diffs, hook = [], others = [], routes = [] } = live
  return [...diffs, ...routes, ...hook, ...others].map(({ label }) => label)
})

const eachHook = (change: "delete" | "disable" | "only tags") =>
  Effect.gen(function*() {
    const { state } = (yield* Vendors).gitHost
    for (const { id } of yield* state.hooks("ann/shop")) {
      if (change === "delete") yield* state.remove("ann/shop", id)
      else yield* state.update("ann/shop", id, change === "disable" ? { active: false } : { events: ["create"] })
    }
  })

describe.each(inTurn([...vendors], 1))("drift with %s", (vendor) => {
  it.live("finds what is declared anew and what somebody changed, until an upsert ends it", () =>
    Effect.gen(function*() {
      yield* upsertApp(request)
      expect(yield* found).toEqual([])

      yield* declare({ port: 3001 })
      expect(yield* found).toEqual(["HOST_PORT", "Proxy route"])
      yield* upsertApp(request)
      expect(yield* found).toEqual([])

      yield* eachHook("disable")
      expect(yield* found).toEqual([expect.stringMatching(/^Webhook \d+ active$/)])
      yield* upsertApp(request)
      expect(yield* found).toEqual([])

      yield* eachHook("delete")
      expect(yield* found).toEqual(["Webhook"])
      yield* upsertApp(request)
      expect(yield* found).toEqual([])

      const platform = yield* Platform
      const [app] = yield* platform.applications
      const uuid = app?.uuid ?? ""
      const port = Option.fromNullable((yield* platform.envs(uuid)).find(({ key }) => key === "HOST_PORT"))
      yield* Effect.flatMap(port, (env) => platform.updateEnv(uuid, env, "4999"))
      expect(yield* found).toEqual(["HOST_PORT"])
      yield* upsertApp(request)
      expect(yield* found).toEqual([])
    }).pipe(Effect.provide(vendorWorld(vendor, { files: declaring(entry) }))))

  it.live("finds a webhook for another event, which is left to whoever chose it", () =>
    Effect.gen(function*() {
      yield* upsertApp(request)
      yield* eachHook("only tags")
      const before = [expect.stringMatching(/^Webhook \d+$/)]
      expect(yield* found).toEqual(before)
      yield* upsertApp(request)
      expect(yield* found).toEqual(before)
    }).pipe(Effect.provide(vendorWorld(vendor, { files: declaring(entry) }))))
})
