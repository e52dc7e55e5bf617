import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { planRemoval } from "../../../src/pipelines/removal/planRemoval.ts"
import { removeApplication } from "../../../src/pipelines/removal/removeApplication.ts"
import { upsertApp } from "../../../src/pipelines/upsert/upsertApp.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { GitHostCalls } from "../../layers/GitHostTest.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../layers/memoryWorld.ts"
import { ProxyFileText } from "../../layers/ProxyFileTest.ts"
import { plainFile, routersOf, serviceOf } from "../routes/proxyFiles.ts"

const projectPath = "/srv/shop"
const entry = { name: "shop", buildpack: "autopack", port: 3000, domain: "shop.example.com" }
const within = (world: MemoryWorld = {}) =>
  memoryWorld({
    ...world,
    files: declaring(entry)
  })

const live = Effect.gen(function*() {
  const apps = yield* (yield* Platform).applications
  const hooks = yield* (yield* GitHostCalls).hooks("ann/shop")
  return {
    apps: apps.map(({ name }) => name),
    route: (yield* yield* ProxyFileText).includes("shop.example.com"),
    hooks: hooks.length
  }
})

describe("removeApplication", () => {
  it.effect("removes the route and the webhook with the application, as planned", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      const planned = yield* planRemoval(uuid)
      expect(planned).toEqual({
        uuid,
        name: "shop",
        route: { routeName: "shop", way: "shop.example.com to http://192.168.1.20:3000" },
        hooks: [{ id: expect.any(Number), repository: "ann/shop" }],
        stays: []
      })
      expect(yield* live).toEqual({ apps: ["shop"], route: true, hooks: 1 })
      expect(yield* removeApplication(uuid, {})).toEqual({ ...planned, success: true })
      expect(yield* live).toEqual({ apps: [], route: false, hooks: 0 })
      expect(yield* yield* ProxyFileText).toBe(plainFile)
    }).pipe(Effect.provide(within())))

  it.effect("keeps the route that it is asked to keep", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      expect(yield* removeApplication(uuid, { keepRoute: true })).toMatchObject({
        success: true,
        route: null,
        stays: ["the route shop (shop.example.com to http://192.168.1.20:3000): kept, as asked for"]
      })
      expect(yield* live).toEqual({ apps: [], route: true, hooks: 0 })
    }).pipe(Effect.provide(within())))

  it.effect("keeps the webhook that another application of the repository uses", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      const files = yield* LocalFiles
      yield* files.write(`${projectPath}/platform.json`, JSON.stringify({ name: "admin", buildpack: "autopack" }))
      yield* upsertApp({ projectPath })
      const { hooks, stays, success } = yield* removeApplication(uuid, {})
      expect([success, hooks, stays]).toEqual([true, [], [
        expect.stringMatching(/^the webhook \d+ of ann\/shop: "admin" uses it too$/)
      ]])
      expect(yield* live).toEqual({ apps: ["admin"], route: false, hooks: 1 })
    }).pipe(Effect.provide(within())))

  it.effect.each<readonly [says: string, world: MemoryWorld, stays: RegExp]>([
    [
      "leads to another port",
      {
        platform: { applications: [{ uuid: "app-1", name: "shop", envs: { HOST_PORT: "3001" } }] },
        proxy: plainFile.replace("\n  middlewares:", `${routersOf("shop", "else.example.com")}\n  middlewares:`) +
          serviceOf("shop", "192.168.1.20:3000")
      },
      /^the route shop \(else\.example\.com to http:\/\/192\.168\.1\.20:3000\): nothing tells that it is this/
    ],
    [
      "another application may own",
      {
        platform: {
          applications: [{ uuid: "app-1", name: "shop", envs: { HOST_PORT: "3000" } }, { uuid: "app-2", name: "sh-op" }]
        },
        proxy: plainFile.replace("\n  middlewares:", `${routersOf("shop", "shop.example.com")}\n  middlewares:`) +
          serviceOf("shop", "192.168.1.20:3000")
      },
      /^the route shop .*: it may belong to "sh-op"$/
    ]
  ])("leaves a route that %s, and says so", ([, world, stays]) =>
    Effect.gen(function*() {
      const before = yield* yield* ProxyFileText
      const removed = yield* removeApplication("app-1", {})
      expect([removed.success, removed.route, removed.stays]).toEqual([true, null, [expect.stringMatching(stays)]])
      expect(yield* yield* ProxyFileText).toBe(before)
    }).pipe(Effect.provide(within(world))))

  it.effect("tells what cannot be removed once the application is gone", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      const { hooks, stays, success } = yield* removeApplication(uuid, {})
      expect([success, hooks]).toEqual([false, []])
      expect(stays).toEqual([expect.stringMatching(/^the webhook of ann\/shop: /)])
      expect(yield* live).toEqual({ apps: [], route: false, hooks: 1 })
    }).pipe(Effect.provide(within({ gitHost: { failing: { deleteHook: 403 } } }))))

  it.effect("touches neither route nor webhook when the platform refuses", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      expect((yield* Effect.flip(removeApplication(uuid, {}))).message).toContain("503")
      expect(yield* live).toEqual({ apps: ["shop"], route: true, hooks: 1 })
    }).pipe(Effect.provide(within({ platform: { failing: { deleteApplication: 503 } } }))))
})
