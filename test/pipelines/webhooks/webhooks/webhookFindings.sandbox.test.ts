import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { setUpWebhooks, webhookStatus } from "../../../../src/pipelines/webhooks/webhooks.ts"
import type { StoredHook } from "../../../../src/sandbox/gitHost.ts"
import { Platform } from "../../../../src/services/platform/Platform.ts"
import { inPart } from "../../../fixtures/thorough.ts"
import { type Vendor, vendors, type VendorWorld, vendorWorld } from "../../../layers/worlds/vendorWorld.ts"

const apps = [{ uuid: "a1", name: "shop", git_repository: "git@git.test:2004/ann/shop.git", git_branch: "main" }]
const urlFor = (vendor: Vendor) =>
  `https://platform.test/webhooks/source/${vendor === "neutral" ? "githost" : "gitea"}/events/manual`

const report = Effect.map(webhookStatus(true), ({ results: [shop] }) => ({
  findings: shop?.findings?.map(({ finding }) => finding),
  untold: shop?.untold
}))
const setSecret = (text: string) =>
  Effect.flatMap(Platform, (platform) => platform.setWebhookSecret("a1", Redacted.make(text)))

describe.each(inPart(vendors, vendors.slice(0, 2)))("what keeps pushes away with %s", (vendor) => {
  const within = (world: VendorWorld = {}) => Effect.provide(vendorWorld(vendor, { apps, ...world }))
  const withHook = (hook: Partial<StoredHook>) =>
    within({ gitHost: { repositories: { "ann/shop": [{ url: urlFor(vendor), ...hook }] } } })

  const hooks: ReadonlyArray<readonly [hook: Partial<StoredHook>, finding: string]> = [
    [{ active: false }, "Hook 1 is inactive"],
    [{ events: ["create", "delete"] }, "Hook 1 is not for pushes: create, delete"],
    [{ url: "https://other.test" }, `No hook of ann/shop leads to ${urlFor(vendor)}`]
  ]
  // Branch filters are the vendors' own: the specification's git host has none.
  const filtered: typeof hooks = vendor === "neutral" ? [] : [
    [
      { branchFilter: "release/*" },
      "Hook 1 is for branches like release/* only, and the application is built from main"
    ]
  ]
  it.scopedLive.each([...hooks, ...filtered])("is told of a hook: %j", ([hook, finding]) =>
    Effect.gen(function*() {
      yield* setSecret("hook-secret")
      expect((yield* report).findings).toEqual([finding])
    }).pipe(withHook(hook)))

  it.scopedLive.each([
    ["", "The platform has no webhook secret for the application, or not the configured one"],
    ["another-secret", "The platform's webhook secret for the application is not the configured one"]
  ])("is told of the platform's secret where that is %j", ([secret = "", finding = ""]) =>
    Effect.gen(function*() {
      yield* setUpWebhooks({})
      expect((yield* report).findings).toEqual([])
      yield* setSecret(secret)
      const { results: [shop] } = yield* webhookStatus(true)
      expect(shop?.findings?.map((one) => one.finding)).toEqual([finding])
      expect(JSON.stringify(shop)).not.toMatch(/hook-secret|another-secret/)
    }).pipe(within()))

  it.scopedLive("is told where no secret is configured", () =>
    Effect.gen(function*() {
      const { findings } = yield* report
      expect(findings?.[0]).toBe("No webhook secret is configured, so that pushes cannot be signed")
    }).pipe(within({ without: ["gitHost.webhookSecret"] })))

  it.scopedLive.each([
    ["http://127.0.0.1:8000", "leads to the git host's own machine"],
    ["http://localhost:8000", "leads to the git host's own machine"],
    ["http://10.1.2.3", "is a private address: a git host may refuse to deliver there"],
    ["http://[fd00::1]:8000", "is a private address: a git host may refuse to deliver there"]
  ])("is told of the address %s", ([address = "", words = ""]) =>
    Effect.gen(function*() {
      yield* setUpWebhooks({})
      expect((yield* report).findings).toEqual([expect.stringContaining(words)])
    }).pipe(within({ settings: { "platform.webhookUrl": address } })))

  it.scopedLive("leaves untold what the git host keeps to itself", () =>
    Effect.gen(function*() {
      yield* setUpWebhooks({})
      const { untold } = yield* report
      expect(untold).toEqual([
        expect.stringMatching(/^Whether the secret of hook \d+ is the configured one: a git host never shows it$/),
        expect.stringMatching(/^Whether the last delivery of hook \d+ failed: the git host's page of the hook shows/),
        ...(vendor === "neutral"
          ? [expect.stringMatching(/^Which branches hook \d+ is for: the git host does not say$/)]
          : [])
      ])
    }).pipe(within()))

  if (vendor !== "neutral") {
    it.scopedLive("takes a secret that the token may not read for no other one", () =>
      Effect.gen(function*() {
        const { findings } = yield* report
        expect(findings?.[0]).toBe("The platform hides the application's webhook secret")
      }).pipe(within({ sensitive: false })))
  }
})
