import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { upsertApp } from "../../../../src/pipelines/upsert/upsert.ts"
import { LocalFiles } from "../../../../src/services/local/LocalFiles.ts"
import { ProxyFileText } from "../../../../src/testing/SshTest.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../../layers/worlds/memoryWorld.ts"
import { plainFile, routersOf, serviceOf } from "../../routes/proxyFiles.ts"

const projectPath = "/srv/shop"
const within = (world: MemoryWorld) => <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.provide(program, memoryWorld({ ...world, files: { ...declaring([]), ...world.files } }))

/** Declares an application, upserts it, and answers what became of its route. */
const upserted = (entry: { readonly name: string }) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    yield* files.write(`${projectPath}/platform.json`, JSON.stringify(entry))
    const { steps } = yield* upsertApp({ projectPath })
    return steps.find(({ step }) => step === "route")?.detail
  })
const proxyFile = Effect.flatten(ProxyFileText)

const shop = (port: number, domain: string, more: object = {}) => ({ name: "shop", port, domain, ...more })

/** A proxy file that has a route already. */
const routed = (name: string, domain: string, target: string) =>
  plainFile.replace("\n  middlewares:", `${routersOf(name, domain)}\n  middlewares:`) + serviceOf(name, target)

describe("a route whose domain changes is the application's own", () => {
  it.effect("after its port changed in an earlier upsert", () =>
    Effect.gen(function*() {
      yield* upserted(shop(3000, "one.example.com"))
      expect(yield* upserted(shop(3001, "one.example.com")))
        .toBe("route shop replaced: one.example.com to http://192.168.1.20:3001")
      expect(yield* proxyFile).not.toMatch(/:3000/)
      expect(yield* upserted(shop(3001, "two.example.com")))
        .toBe("route shop replaced: two.example.com to http://192.168.1.20:3001")
      expect(yield* proxyFile).not.toMatch(/one\.example\.com|:3000/)
    }).pipe(within({})))

  it.effect("when its port changes along with it", () =>
    Effect.gen(function*() {
      expect(yield* upserted(shop(3001, "two.example.com"))).toContain("route shop replaced")
      expect(yield* proxyFile).not.toMatch(/one\.example\.com|:3000/)
    }).pipe(within({
      platform: { applications: [{ uuid: "app-1", name: "shop", envs: { HOST_PORT: "3000" } }] },
      proxy: routed("shop", "one.example.com", "192.168.1.20:3000")
    })))

  it.effect("when it moves to another server", () =>
    Effect.gen(function*() {
      yield* upserted(shop(3000, "one.example.com"))
      expect(yield* upserted(shop(3000, "two.example.com", { server: "web" })))
        .toBe("route shop replaced: two.example.com to http://192.168.1.30:3000")
      expect(yield* proxyFile).not.toMatch(/one\.example\.com|192\.168\.1\.20:3000/)
    }).pipe(within({})))
})

describe("a route is not replaced", () => {
  const refused = (entry: { readonly name: string }) =>
    Effect.gen(function*() {
      const before = yield* proxyFile
      const { message } = yield* Effect.flip(upserted(entry))
      expect(yield* proxyFile).toBe(before)
      return message
    })

  it.effect("when it leads to another address", () =>
    Effect.gen(function*() {
      const message = yield* refused(shop(3000, "two.example.com"))
      expect(message.replace(/\([0-9a-f]{24}\)/, "(UUID)")).toBe(
        "The route name \"shop\" is taken: it points to 192.168.1.99:3000. If it is this application's, remove it and " +
          "run again (upsert stopped at route). The application exists now (UUID), and its port 3000 is taken: running " +
          "upsert again goes on from there"
      )
    }).pipe(within({ proxy: routed("shop", "one.example.com", "192.168.1.99:3000") })))

  it.effect("when another application with the same route name has the port now, or had it", () =>
    Effect.gen(function*() {
      yield* upserted({ ...shop(3000, "one.example.com"), name: "my-app" })
      yield* upserted({ ...shop(3001, "one.example.com"), name: "my-app" })
      expect(yield* refused({ ...shop(3000, "two.example.com"), name: "myapp" })).toContain(
        "The route name \"myapp\" is taken: it points to 192.168.1.20:3001, and may belong to \"my-app\""
      )
    }).pipe(within({})))

  it.effect("on the word of another application's changelog entries", () =>
    Effect.gen(function*() {
      expect(yield* refused(shop(3000, "two.example.com"))).toContain("it points to 192.168.1.20:2999")
    }).pipe(within({
      files: {
        "/srv/shop/platform.changelog.json": JSON.stringify([
          { appName: "store", changes: [{ field: "HOST_PORT", label: "HOST_PORT", old: null, new: "2999" }] },
          { by: "hand" },
          { appName: "shop", changes: [{ field: "HOST_PORT", label: "HOST_PORT", old: 5, new: "none" }] }
        ])
      },
      proxy: routed("shop", "one.example.com", "192.168.1.20:2999")
    })))
})

it.effect("an application named almost alike hinders no new route", () =>
  Effect.gen(function*() {
    expect(yield* upserted(shop(3000, "one.example.com"))).toContain("route shop inserted")
  }).pipe(within({ platform: { applications: [{ uuid: "app-1", name: "sh-op" }] } })))

describe("a route that a bridged redeploy leads to another port", () => {
  const bridged = routed("shop", "one.example.com", "192.168.1.20:30000")
  const platform = { applications: [{ uuid: "app-1", name: "shop", envs: { HOST_PORT: "3000" } }] }

  it.effect("is left alone by an upsert, which says when to try again", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(upserted(shop(3000, "one.example.com")))
      expect(failure).toMatchObject({ _tag: "UpsertFailed", step: "route" })
      expect(failure.message).toContain("redeployed over a bridge. It was left as it is: try again when")
      expect(yield* proxyFile).toBe(bridged)
    }).pipe(within({ platform, proxy: bridged })))

  it.effect("is the application's where it once had that port itself", () =>
    Effect.gen(function*() {
      yield* upserted(shop(30_000, "one.example.com"))
      expect(yield* upserted(shop(3000, "one.example.com")))
        .toBe("route shop replaced: one.example.com to http://192.168.1.20:3000")
    }).pipe(within({})))
})
