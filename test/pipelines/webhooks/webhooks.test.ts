import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import {
  setUpWebhooks,
  tearDownWebhooks,
  testWebhook,
  webhookStatus
} from "../../../src/pipelines/webhooks/webhooks.ts"
import type { StoredHook } from "../../../src/sandbox/gitHost.ts"
import { GitHostCalls, PlatformCalls } from "../../../src/testing/PlatformTest.ts"
import { type MemoryWorld, memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const webhookUrl = "http://platform.test/webhooks/source/githost/events/manual"
const address = (repo: string) => `git@git.test:2004/ann/${repo}.git`
const applications = [
  { uuid: "a1", name: "shop", git_repository: address("shop") },
  { uuid: "a2", name: "blog", git_repository: address("blog") },
  { uuid: "a3", name: "bare", git_repository: "" },
  { uuid: "a4", name: "admin", git_repository: address("shop") }
]
const repositories = { "ann/shop": [], "ann/blog": [{ url: webhookUrl, active: false }, { url: "http://other.test" }] }
const within = (world: MemoryWorld = {}) =>
  Effect.provide(memoryWorld({
    ...world,
    platform: { applications, ...world.platform },
    gitHost: { repositories, ...world.gitHost }
  }))
const hooksOf = (repository: string) => Effect.flatMap(GitHostCalls, ({ hooks }) => hooks(repository))

describe("setUpWebhooks", () => {
  it.effect("sets up every application, in the platform's order", () =>
    Effect.gen(function*() {
      const { appsConfigured, results, webhookUrl: url } = yield* setUpWebhooks({})
      expect([url, appsConfigured]).toEqual([webhookUrl, 4])
      expect(results).toEqual([
        { app: "shop", uuid: "a1", platform: "secret_set", githost: expect.stringMatching(/^created \(hook \d+\)$/) },
        { app: "blog", uuid: "a2", platform: "secret_set", githost: "updated (hook 1)" },
        { app: "bare", uuid: "a3", platform: "secret_set", githost: "skipped: no git repo configured" },
        { app: "admin", uuid: "a4", platform: "secret_set", githost: expect.stringMatching(/^updated \(hook \d+\)$/) }
      ])
      expect(yield* hooksOf("ann/shop")).toHaveLength(1)
      expect((yield* hooksOf("ann/blog"))[0]).toMatchObject({ active: true, secret: "hook-secret" })
      const calls = yield* Effect.flatten(PlatformCalls)
      expect(calls).toContainEqual(["setWebhookSecret", "a3", "hook-secret"])
    }).pipe(within()))

  it.effect("sets up one application by its exact name", () =>
    Effect.gen(function*() {
      expect((yield* setUpWebhooks({ appName: "blog" })).results.map(({ uuid }) => uuid)).toEqual(["a2"])
      expect((yield* setUpWebhooks({ appName: null })).results).toHaveLength(4)
    }).pipe(within()))

  it.effect("names an application that does not exist, and does nothing", () =>
    Effect.gen(function*() {
      for (const program of [setUpWebhooks, tearDownWebhooks]) {
        const error = yield* Effect.flip(program({ appName: "Blog" }))
        expect(error).toMatchObject({ status: 404 })
        expect(error.message).toBe(
          "The platform has no application named \"Blog\", and nothing was changed. Did you mean \"blog\"?"
        )
        expect((yield* Effect.flip(program({ appName: "" }))).message).toContain("no application named \"\"")
        expect((yield* Effect.flip(program({ appName: "x".repeat(100_000) }))).message.length).toBeLessThan(300)
      }
      expect(yield* Effect.flatten(PlatformCalls)).not.toContainEqual(expect.arrayContaining(["setWebhookSecret"]))
    }).pipe(within()))

  it.effect("tells what failed and goes on", () =>
    Effect.gen(function*() {
      const { results } = yield* setUpWebhooks({ appName: "shop" })
      expect(results).toEqual([{
        app: "shop",
        uuid: "a1",
        platform: "error: Platform API 403: not today",
        githost: "error: Git host API 500: not today"
      }])
    }).pipe(within({ platform: { failing: { setWebhookSecret: 403 } }, gitHost: { failing: { createHook: 500 } } })))

  it.effect("fails without a secret, before any call", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(setUpWebhooks({}))
      expect([error.status, error.message]).toEqual([500, expect.stringContaining("gitHost.webhookSecret")])
      expect(yield* Effect.flatten(PlatformCalls)).toEqual([])
    }).pipe(Effect.provide(memoryWorld({ without: ["gitHost.webhookSecret"] }))))

  it.effect("tells which setting is missing", () =>
    Effect.gen(function*() {
      const { results } = yield* setUpWebhooks({ appName: "shop" })
      expect(results[0]?.githost).toMatch(/^error: The setting gitHost\.owner is missing/)
    }).pipe(within({ without: ["gitHost.owner"] })))
})

describe("tearDownWebhooks", () => {
  it.effect("clears secrets and deletes every hook that leads to the platform", () =>
    Effect.gen(function*() {
      const { appsConfigured, results } = yield* tearDownWebhooks({})
      expect(appsConfigured).toBe(4)
      expect(results).toEqual([
        { app: "shop", uuid: "a1", platform: "secret_cleared", githost: "removed 2 hook(s)" },
        { app: "blog", uuid: "a2", platform: "secret_cleared", githost: "removed 1 hook(s)" },
        { app: "bare", uuid: "a3", platform: "secret_cleared", githost: "skipped" },
        { app: "admin", uuid: "a4", platform: "secret_cleared", githost: "none found" }
      ])
      expect(yield* hooksOf("ann/shop")).toEqual([])
      expect((yield* hooksOf("ann/blog")).map(({ url }) => url)).toEqual(["http://other.test"])
      expect(yield* Effect.flatten(PlatformCalls)).toContainEqual(["setWebhookSecret", "a1", ""])
    }).pipe(within({
      gitHost: {
        repositories: { ...repositories, "ann/shop": [{ url: webhookUrl }, { url: webhookUrl, active: false }] }
      }
    })))

  it.effect("works without a secret, and tells what failed", () =>
    Effect.gen(function*() {
      const { results } = yield* tearDownWebhooks({ appName: "shop" })
      expect(results).toEqual([{
        app: "shop",
        uuid: "a1",
        platform: "error: Platform API 404: not today",
        githost: "error: Git host API 404: {\"message\":\"Repository: missing\"}"
      }])
    }).pipe(within({
      without: ["gitHost.webhookSecret"],
      platform: { failing: { setWebhookSecret: 404 } },
      gitHost: { repositories: {} }
    })))
})

describe("webhookStatus", () => {
  it.effect("tells what is set up", () =>
    Effect.gen(function*() {
      expect(yield* webhookStatus()).toEqual({
        webhookUrl,
        results: [
          { app: "shop", uuid: "a1", platformSecretSet: false, githostWebhookActive: true, repo: "shop" },
          { app: "blog", uuid: "a2", platformSecretSet: true, githostWebhookActive: false, repo: "blog" },
          { app: "bare", uuid: "a3", platformSecretSet: false, githostWebhookActive: false, repo: null }
        ]
      })
    }).pipe(within({
      platform: {
        applications: applications.slice(0, 3).map((app, index) => ({
          ...app,
          manual_webhook_secret_githost: ["", "set", null][index] ?? null
        }))
      },
      gitHost: { repositories: { ...repositories, "ann/shop": [{ url: "x" }, { url: webhookUrl, active: true }] } }
    })))

  it.effect("takes what cannot be read for not set up", () =>
    Effect.gen(function*() {
      const { results } = yield* webhookStatus()
      expect(results.map(({ githostWebhookActive, platformSecretSet }) => [githostWebhookActive, platformSecretSet]))
        .toEqual(results.map(() => [false, false]))
    }).pipe(within({ platform: { failing: { webhookSecretSet: 500 } }, gitHost: { failing: { hooks: 500 } } })))
})

describe("webhookStatus, when asked what is wrong", () => {
  const found = (index: number) =>
    Effect.map(webhookStatus(true), ({ results }) => results[index]?.findings?.map(({ finding }) => finding))
  const set = applications.map((app) => ({ ...app, git_branch: "main", manual_webhook_secret_githost: "hook-secret" }))
  const withHook = (hook: Partial<StoredHook>) =>
    within({
      platform: { applications: set },
      gitHost: { repositories: { "ann/shop": [{ url: webhookUrl, ...hook }] } }
    })

  it.effect("says nothing unless asked", () =>
    Effect.gen(function*() {
      expect((yield* webhookStatus()).results[0]).not.toHaveProperty("findings")
    }).pipe(withHook({})))

  it.effect.each<readonly [hook: Partial<StoredHook>, findings: ReadonlyArray<string>]>([
    [{}, []],
    [{ active: false }, ["Hook 1 is inactive"]],
    [{ events: ["create"] }, ["Hook 1 is not for pushes: create"]],
    [{ branchFilter: "{main,next}" }, []],
    [{ branchFilter: "release/*" }, [
      "Hook 1 is for branches like release/* only, and the application is built from main"
    ]],
    [{ url: "http://other.test" }, [`No hook of ann/shop leads to ${webhookUrl}`]]
  ])("judges a hook: %j", ([hook, findings]) =>
    Effect.gen(function*() {
      expect(yield* found(0)).toEqual(findings)
    }).pipe(withHook(hook)))

  it.effect("says what nobody tells of a hook", () =>
    Effect.gen(function*() {
      const { results: [shop, , bare] } = yield* webhookStatus(true)
      expect(shop?.untold).toEqual([
        "Whether the secret of hook 1 is the configured one: a git host never shows it",
        "Whether the last delivery of hook 1 failed: the git host's page of the hook shows that, and its API does not",
        "Which branches hook 1 is for: the git host does not say"
      ])
      expect(bare?.untold).toEqual([])
    }).pipe(withHook({})))

  it.effect("is content with one hook of several that works", () =>
    Effect.gen(function*() {
      expect(yield* found(0)).toEqual([])
    }).pipe(within({
      platform: { applications: set },
      gitHost: { repositories: { "ann/shop": [{ url: webhookUrl, active: false }, { url: webhookUrl }] } }
    })))

  it.effect("tells a missing secret, a missing repository and what cannot be read", () =>
    Effect.gen(function*() {
      expect(yield* found(0)).toEqual([
        expect.stringContaining("no webhook secret"),
        expect.stringContaining("The hooks of shop cannot be read: Git host API 500")
      ])
      expect(yield* found(2)).toEqual(["The application has no git repository"])
    }).pipe(within({ gitHost: { failing: { hooks: 500 } } })))
})

describe("testWebhook", () => {
  it.effect("tries the hook that is active", () =>
    Effect.gen(function*() {
      expect(yield* testWebhook({ appName: "shop" })).toMatchObject({ app: "shop", repo: "shop", hook: 2, sent: true })
      expect((yield* (yield* GitHostCalls).asked).at(-1)).toEqual(["testHook", "ann/shop", 2])
    }).pipe(within({
      gitHost: { repositories: { "ann/shop": [{ url: webhookUrl, active: false }, { url: webhookUrl }] } }
    })))

  it.effect("says why nothing was sent", () =>
    Effect.gen(function*() {
      const said = Effect.fnUntraced(function*(appName: string) {
        const { detail, hook, sent } = yield* testWebhook({ appName })
        return [sent, hook, detail]
      })
      expect(yield* said("bare")).toEqual([false, null, expect.stringContaining("no git repository")])
      expect(yield* said("shop")).toEqual([
        false,
        null,
        expect.stringContaining("Set up the application's webhook first")
      ])
      expect(yield* said("blog")).toEqual([false, 1, "The git host sent no test delivery: Git host API 403: not today"])
      expect(yield* Effect.flip(testWebhook({ appName: "none" }))).toMatchObject({ status: 404 })
    }).pipe(within({ gitHost: { repositories, failing: { testHook: 403 } } })))
})
