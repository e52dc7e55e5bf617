import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUpWebhooks, testWebhook, webhookStatus } from "../../../../src/pipelines/webhooks/webhooks.ts"
import { Vendors, vendorWorld } from "../../../layers/worlds/vendorWorld.ts"

const apps = [{ uuid: "a1", name: "shop", git_repository: "git@git.test:2004/ann/shop.git", git_branch: "master" }]

describe.each(["neutral", "coolify and gitea", "coolify and forgejo"] as const)("with %s", (vendor) => {
  it.scopedLive("a hook that was set up has no findings, and takes a test delivery", () =>
    Effect.gen(function*() {
      const { gitHost } = yield* Vendors
      expect((yield* webhookStatus(true)).results[0]?.findings?.map(({ finding }) => finding)).toEqual([
        expect.stringContaining("not the configured one"),
        expect.stringMatching(/^No hook of ann\/shop leads to https:\/\/platform\.test\//)
      ])
      expect(yield* testWebhook({ appName: "shop" })).toMatchObject({ hook: null, sent: false })
      yield* setUpWebhooks({})
      expect((yield* webhookStatus(true)).results[0]?.findings).toEqual([])
      const [hook] = yield* gitHost.state.hooks("ann/shop")
      expect(yield* testWebhook({ appName: "shop" })).toMatchObject({
        app: "shop",
        uuid: "a1",
        repo: "shop",
        hook: hook?.id,
        sent: true
      })
      const { method, path } = (yield* gitHost.calls).at(-1) ?? {}
      expect([method, path]).toEqual(["POST", `/api/v1/repos/ann/shop/hooks/${hook?.id}/tests`])
    }).pipe(Effect.provide(vendorWorld(vendor, { apps }))))
})
