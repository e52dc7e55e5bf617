import { describe, expect, it } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Redacted } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { planRemoval, removeApplication } from "../../src/pipelines/removal.ts"
import type { EditServices } from "../../src/pipelines/routes/proxyFile.ts"
import { addRoute, removeRoute } from "../../src/pipelines/routes/routes.ts"
import { upsertApp } from "../../src/pipelines/upsert/upsert.ts"
import { removeHooks } from "../../src/pipelines/webhooks/hooks.ts"
import { GitHost } from "../../src/services/githost.ts"
import { LocalFiles } from "../../src/services/local/LocalFiles.ts"
import { Locks, locksLayer, makeApplicationLock } from "../../src/services/locks/Locks.ts"
import { Platform } from "../../src/services/platform/Platform.ts"
import { GitHostCalls } from "../../src/testing/PlatformTest.ts"
import { ProxyFileText } from "../../src/testing/SshTest.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../layers/worlds/memoryWorld.ts"
import { plainFile, routersOf, serviceOf } from "./routes/proxyFiles.ts"

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
      const { planHash, ...parts } = planned
      expect(parts).toEqual({
        uuid,
        name: "shop",
        live: true,
        route: { routeName: "shop", way: "shop.example.com to http://192.168.1.20:3000" },
        hooks: [{ id: expect.any(Number), repository: "ann/shop" }],
        stays: []
      })
      expect(yield* live).toEqual({ apps: ["shop"], route: true, hooks: 1 })
      expect(yield* removeApplication(uuid, { planHash })).toEqual({ ...parts, success: true })
      expect(yield* live).toEqual({ apps: [], route: false, hooks: 0 })
      expect(yield* yield* ProxyFileText).toBe(plainFile)
    }).pipe(Effect.provide(within())))

  const refusesAfter = <E, R>(move: (uuid: string) => Effect.Effect<unknown, E, R>, says: RegExp) =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      const { planHash } = yield* planRemoval(uuid)
      yield* move(uuid)
      const before = yield* live
      const refused = yield* Effect.flip(removeApplication(uuid, { planHash }))
      expect([refused._tag, refused.message]).toEqual(["PlanMoved", expect.stringMatching(says)])
      expect(yield* live).toEqual(before)
    }).pipe(Effect.provide(within()))

  it.effect("removes nothing when its route has moved since the plan", () =>
    refusesAfter(() => removeRoute({ routeName: "shop" }), /its route is now none of its own\. Nothing was changed/))

  it.effect("removes nothing when its webhook has moved since the plan", () =>
    refusesAfter(
      (uuid) =>
        Effect.flatMap(Platform, ({ webhookUrlOf }) =>
          Effect.flatMap(webhookUrlOf(uuid), (url) =>
            removeHooks({ owner: "ann", name: "shop" }, url))),
      /the list of its webhooks is now none\. Nothing was changed/
    ))

  it.effect("removes nothing when the application was renamed since the plan", () =>
    refusesAfter(
      (uuid) => Effect.flatMap(Platform, (platform) => platform.updateApplication(uuid, { name: "store" })),
      /the application is now store/
    ))

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
    ],
    [
      "another application of the same name has",
      {
        platform: {
          applications: [{ uuid: "app-1", name: "shop", envs: { HOST_PORT: "3000" } }, { uuid: "app-2", name: "shop" }]
        },
        proxy: plainFile.replace("\n  middlewares:", `${routersOf("shop", "shop.example.com")}\n  middlewares:`) +
          serviceOf("shop", "192.168.1.20:3000")
      },
      /^the route shop .*: it may belong to "shop"$/
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

  it.effect("removes the webhook of the repository that the application names, under its own owner", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      expect(yield* removeApplication(uuid, {})).toMatchObject({ success: true, hooks: [{ repository: "bob/store" }] })
      expect(yield* (yield* GitHostCalls).hooks("bob/store")).toEqual([])
    }).pipe(Effect.provide(memoryWorld({
      files: declaring({ ...entry, gitOwner: "bob", repo: "store" }),
      gitHost: { repositories: { "bob/store": [], "ann/store": [] } }
    }))))

  const afterCheck = <A, E, R>(call: "deleteApplication", wait: Effect.Effect<unknown>, use: Effect.Effect<A, E, R>) =>
    Effect.updateService(
      use,
      Platform,
      (platform) => Platform.of({ ...platform, [call]: (uuid) => Effect.zipRight(wait, platform[call](uuid)) })
    )

  it.effect("is not interrupted between the application and its parts", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      const reached = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const wait = Effect.zipRight(Deferred.succeed(reached, undefined), Deferred.await(go))
      const removal = yield* Effect.fork(afterCheck("deleteApplication", wait, removeApplication(uuid, {})))
      yield* Deferred.await(reached)
      const interruption = yield* Effect.fork(Fiber.interrupt(removal))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(interruption)
      expect(yield* live).toEqual({ apps: [], route: false, hooks: 0 })
    }).pipe(Effect.provide(within())))

  it.effect("ends beside the locks that other processes see", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "berth-locks-"))),
        (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
      )
      expect(yield* Effect.provide(removeApplication(uuid, {}), locksLayer(directory))).toMatchObject({ success: true })
      expect(yield* live).toEqual({ apps: [], route: false, hooks: 0 })
    }).pipe(Effect.scoped, Effect.provide(within())))

  it.effect("waits for an upsert of the application", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      const locks = yield* Locks
      const key = makeApplicationLock("http://platform.test/api", "shop")
      const go = yield* Deferred.make<void>()
      const upsert = yield* Effect.fork(locks.withLock(key)(Deferred.await(go)))
      const removal = yield* Effect.fork(removeApplication(uuid, {}))
      yield* Effect.forEach(Array.range(1, 200), () => Effect.yieldNow())
      expect((yield* live).apps).toEqual(["shop"])
      yield* Deferred.succeed(go, undefined)
      yield* Effect.zip(Fiber.join(upsert), Fiber.join(removal))
      expect(yield* live).toEqual({ apps: [], route: false, hooks: 0 })
    }).pipe(Effect.provide(within())))

  it.effect.each(["uuid", "name"] as const)(
    "removes, found by its %s, what a removed application has left",
    (given) =>
      Effect.gen(function*() {
        const { uuid } = yield* upsertApp({ projectPath })
        yield* Effect.flatMap(Platform, (platform) => platform.deleteApplication(uuid))
        const planned = yield* planRemoval({ uuid, name: "shop" }[given])
        expect(planned).toMatchObject({
          uuid,
          live: false,
          route: { routeName: "shop" },
          hooks: [{ repository: "ann/shop" }],
          stays: []
        })
        const removed = yield* removeApplication(uuid, { planHash: planned.planHash })
        expect(removed).toMatchObject({ success: true, live: false })
        expect(yield* live).toEqual({ apps: [], route: false, hooks: 0 })
      }).pipe(Effect.provide(within({ settings: { "projects.root": "/srv" } })))
  )

  it.effect("leaves what a removed application has left to another one of its name", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      yield* Effect.flatMap(Platform, (platform) => platform.deleteApplication(uuid))
      yield* upsertApp({ projectPath })
      expect(yield* removeApplication(uuid, {})).toMatchObject({
        success: true,
        route: null,
        hooks: [],
        stays: [
          expect.stringMatching(/^the route shop .*: it may belong to "shop"$/),
          expect.stringMatching(/"shop" uses it too$/)
        ]
      })
      expect(yield* live).toEqual({ apps: ["shop"], route: true, hooks: 1 })
    }).pipe(Effect.provide(within({ settings: { "projects.root": "/srv" } }))))

  it.effect("finds nothing to remove for an application that neither the platform nor a changelog has", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(planRemoval("app-9"))).message).toContain("404")
    }).pipe(Effect.provide(within({ settings: { "projects.root": "/srv" } }))))

  it.effect("leaves a route that leads elsewhere and a webhook that is new by the time that it gets to them", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp({ projectPath })
      const url = yield* Effect.flatMap(Platform, ({ webhookUrlOf }) => webhookUrlOf(uuid))
      const moved = Effect.gen(function*() {
        yield* removeRoute({ routeName: "shop" })
        yield* addRoute({ routeName: "shop", domain: "shop.example.com", port: 4000 })
        yield* (yield* GitHost).createHook({ owner: "ann", name: "shop" }, url, Redacted.make("other"))
      }).pipe(Effect.orDie, Effect.provide(yield* Effect.context<GitHost | EditServices>()))
      const { stays, success } = yield* afterCheck("deleteApplication", moved, removeApplication(uuid, {}))
      expect([success, stays]).toEqual([false, [
        "the route shop: it leads from shop.example.com to http://192.168.1.20:4000 now, and was not removed"
      ]])
      expect(yield* live).toEqual({ apps: [], route: true, hooks: 1 })
    }).pipe(Effect.provide(within())))
})
