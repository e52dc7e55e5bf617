import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Layer, Redacted } from "effect"
import { ensureHook } from "../../../src/pipelines/webhooks/hooks.ts"
import { setUpWebhooks } from "../../../src/pipelines/webhooks/webhooks.ts"
import type { StoredHook } from "../../../src/sandbox/gitHost.ts"
import { GitHostLive } from "../../../src/services/githost.ts"
import { UpstreamLive } from "../../../src/services/upstream/Upstream.ts"
import { locksTest } from "../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { Vendors, vendors, vendorWorld } from "../../layers/worlds/vendorWorld.ts"

const apps = [{ uuid: "a1", name: "shop", git_repository: "git@git.test:2004/ann/shop.git", git_branch: "main" }]

const events = [
  ..."create delete fork push wiki release issues issue_assign issue_comment".split(" "),
  ...["", "_assign", "_comment", "_review", "_review_request", "_sync"].map((kind) => `pull_request${kind}`)
]
const decorated = fc.record({
  active: fc.boolean(),
  type: fc.constantFrom("gitea", "gogs"),
  events: fc.subarray(events, { minLength: 1 }),
  branchFilter: fc.constantFrom("", "main", "{main,release/*}"),
  authorizationHeader: fc.constantFrom("", "Bearer for-the-tunnel"),
  name: fc.constantFrom("", "deploys")
})

describe.each(vendors.filter((vendor) => vendor !== "neutral"))("a hook that others have edited, with %s", (vendor) => {
  const url = "https://platform.test/webhooks/source/gitea/events/manual"
  const seeded = fc.sample(decorated, inPart(40, 8)).map((hook): Partial<StoredHook> => ({ ...hook, url }))

  it.scopedLive.each(seeded)("has all but its secret afterwards: %j", (hook) =>
    Effect.gen(function*() {
      const { results: [done] } = yield* setUpWebhooks({})
      expect(done?.githost).toMatch(/^updated \(hook \d+\)$/)
      const { gitHost, refusals } = yield* Vendors
      const [kept, ...more] = yield* gitHost.state.hooks("ann/shop")
      expect(more).toEqual([])
      const { id: _, secret, ...rest } = kept ?? { secret: "" }
      expect(secret).toBe("hook-secret")
      expect({ branchFilter: "", authorizationHeader: "", name: "", ...rest }).toEqual({
        ...hook,
        active: true,
        contentType: "json",
        events: expect.arrayContaining([...hook.events ?? []])
      })
      expect(kept?.events).toHaveLength(hook.events?.length ?? 0)
      expect(yield* refusals).toEqual([])
    }).pipe(Effect.provide(vendorWorld(vendor, { apps, gitHost: { repositories: { "ann/shop": [hook] } } }))))
})

describe("a hook of a Gitea that does not report its branch filter and its header", () => {
  const url = "https://platform.test/hooks"
  const old = { id: 7, type: "gitea", active: true, events: ["push", "issues"], config: { url, content_type: "json" } }
  const client = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, { searchParams }) =>
      Effect.succeed(HttpClientResponse.fromWeb(
        request,
        request.method === "DELETE"
          ? new Response(null, { status: 204 })
          : Response.json(
            request.method === "POST"
              ? { ...old, id: 8, events: ["push"] }
              : searchParams.get("page") === "1"
              ? [old]
              : []
          )
      ))
    )
  )
  const settings = settingsTest({
    "gitHost.profile": "gitea",
    "gitHost.url": "https://git.test",
    "gitHost.token": Redacted.make("t")
  })

  it.effect("is replaced with a word about what its replacement lacks", () =>
    Effect.gen(function*() {
      const done = yield* ensureHook({ owner: "ann", name: "shop" }, url, Redacted.make("hook-secret"))
      expect(done).toBe(
        "updated (hook 8), without its branch filter and authorization header and events issues: set that again there"
      )
    }).pipe(Effect.provide([
      GitHostLive.pipe(Layer.provide(Layer.provide(UpstreamLive, [client, settings])), Layer.provide(settings)),
      locksTest
    ])))
})
