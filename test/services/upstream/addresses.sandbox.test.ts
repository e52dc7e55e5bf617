import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { GitHost } from "../../../src/services/githost.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { vendorWorld } from "../../layers/worlds/vendorWorld.ts"

const shop = { owner: "ann", name: "shop" }

describe("an address in the settings", () => {
  it.scopedLive.each(["", "/", "/api", "/api/v4"])(
    "of a Coolify that ends in %j is told with the right one",
    (platform) =>
      Effect.gen(function*() {
        const calls = yield* Platform
        const failures = yield* Effect.forEach(
          [calls.applications, calls.projectName("p"), calls.privateKeyName("k"), calls.check],
          (call: Effect.Effect<unknown, { readonly message: string }>) => Effect.flip(call)
        )
        for (const { message } of failures) {
          expect(message).toMatch(
            /platform\.url is http:\S+, and the API is probably at http:\S+:\d+\/api\/v1: put that there$/
          )
        }
      }).pipe(Effect.provide(vendorWorld("coolify and gitea", { paths: { platform } })))
  )

  it.scopedLive("of a Gitea that ends in the path of its API is told with the right one", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip((yield* GitHost).hooks(shop))
      expect(message).toMatch(
        /gitHost\.url is http:\S+\/api\/v1, and the API is probably at http:\/\/[^/]+: put that there$/
      )
    }).pipe(Effect.provide(vendorWorld("coolify and gitea", { paths: { gitHost: "/api/v1" } }))))

  it.scopedLive("that is right is not blamed for what is not there", () =>
    Effect.gen(function*() {
      expect(yield* (yield* Platform).projectName("p")).toMatchObject({ _tag: "Absent" })
      expect((yield* Effect.flip((yield* GitHost).hooks({ ...shop, name: "none" }))).message).not.toContain(
        "gitHost.url"
      )
    }).pipe(Effect.provide(vendorWorld("coolify and gitea"))))
})

describe("a repository that was renamed", () => {
  it.scopedLive("is told with its new name", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip((yield* GitHost).hooks(shop))
      expect(message).toMatch(
        /answered 307, a redirect .*the repository "ann\/shop" has moved to "bob\/store"\. Put its new/
      )
    }).pipe(Effect.provide(vendorWorld("coolify and gitea", {
      gitHost: { repositories: { "bob/store": [] }, renamed: { "ann/shop": "bob/store" } }
    }))))
})
