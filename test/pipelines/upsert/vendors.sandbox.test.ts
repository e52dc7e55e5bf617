import { describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted, Schedule } from "effect"
import { expect } from "vitest"
import {
  createApplication,
  findApplication,
  listApplications
} from "../../../src/pipelines/applications/applications.ts"
import { drift } from "../../../src/pipelines/drift.ts"
import { nextPort } from "../../../src/pipelines/ports.ts"
import { upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { setUpWebhooks, tearDownWebhooks, webhookStatus } from "../../../src/pipelines/webhooks/webhooks.ts"
import { HttpFault } from "../../../src/sandbox/httpDouble.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import type { ProxyFileText } from "../../../src/testing/SshTest.ts"
import { contracts } from "../../fixtures/contracts.ts"
import { inTurn } from "../../fixtures/thorough.ts"
import { declaring } from "../../layers/worlds/memoryWorld.ts"
import { Vendors, vendors, type VendorWorld, vendorWorld } from "../../layers/worlds/vendorWorld.ts"

const request = { projectPath: "/srv/shop" }
const gitUrl = "git@git.test:2004/ann/shop.git"
const app = { name: "shop", uuid: "app-shop", git_repository: gitUrl }

const declare = (entry: object) =>
  Effect.flatMap(LocalFiles, (files) => files.write("/srv/shop/platform.json", JSON.stringify(entry)))
const detailOf = (name: string, { steps }: Effect.Effect.Success<ReturnType<typeof upsertApp>>) =>
  steps.find(({ step }) => step === name)?.detail
const nothingRefused = Effect.gen(function*() {
  expect(yield* (yield* Vendors).refusals).toEqual([])
})
/** Words of vendors that may not reach a caller. */
const neutralWords = (body: unknown) =>
  expect(JSON.stringify(body)).not.toMatch(
    /nixpacks|dockercompose|"dockerfile"|docker_compose_location|webhook_secret_gitea/
  )
const hooksOf = (repository: string) => Effect.flatMap(Vendors, ({ gitHost }) => gitHost.state.hooks(repository))

/** A program that has to work whoever the vendor is. */
interface Case {
  readonly says: string
  readonly world?: VendorWorld
  readonly program: Effect.Effect<void, unknown, Effect.Effect.Context<ReturnType<typeof drift>> | Everything>
}
type Everything =
  | Effect.Effect.Context<ReturnType<typeof upsertApp>>
  | Effect.Effect.Context<typeof nextPort>
  | Vendors
  | ProxyFileText

const entries: ReadonlyArray<readonly [says: string, entry: object, platformFiles?: Readonly<Record<string, string>>]> =
  [
    ["an application", { name: "shop", buildpack: "autopack", port: 3000 }],
    ["an application behind the proxy", {
      name: "shop",
      buildpack: "autopack",
      port: 3000,
      domain: "shop.example.com"
    }],
    ["an application on another server", {
      name: "shop",
      buildpack: "autopack",
      port: 3000,
      domain: "shop.example.com",
      server: "web"
    }],
    ["an application that the platform serves", {
      name: "shop",
      buildpack: "autopack",
      domain: "shop.example.com",
      server: "localhost"
    }],
    ["a static site", { name: "shop", buildpack: "autopack", static: true }],
    ["a static site with its own directory", {
      name: "shop",
      buildpack: "autopack",
      static: true,
      publishDir: "/out",
      baseDirectory: "/web"
    }],
    ["a static site that the platform serves", {
      name: "shop",
      buildpack: "autopack",
      static: true,
      domain: "s.example.com",
      server: "here"
    }],
    ["an image file", { name: "shop", buildpack: "imagefile", branch: "main" }],
    ["a compose stack", { name: "shop", buildpack: "composestack", port: 3000 }],
    ["a compose stack with its own file", {
      name: "shop",
      buildpack: "composestack",
      composeLocation: "/deploy/a.yml"
    }],
    [
      "a compose stack behind the proxy",
      { name: "shop", buildpack: "composestack", port: 3000, domain: "shop.example.com" }
    ],
    [
      "a compose stack that the platform serves",
      { name: "shop", buildpack: "composestack", domain: "shop.example.com", server: "localhost", service: "web" }
    ],
    [
      "a compose stack of one service that the platform serves",
      { name: "shop", buildpack: "composestack", domain: "shop.example.com", server: "localhost" },
      { "/srv/shop/compose.yml": "services:\n  web:\n    image: a\n" }
    ]
  ]

const upserts = entries.map(([says, entry, files]): Case => ({
  says: `creates ${says}, and finds it as it made it`,
  world: { files: { ...declaring(entry), ...files } },
  program: Effect.gen(function*() {
    const first = yield* upsertApp(request)
    expect(first.changelogEntry.action).toBe("create")
    expect(detailOf("webhook", first)).toMatch(/^created \(hook \d+\)$/)
    const { vendor } = yield* Vendors
    const before = yield* drift(request)
    // Without a translation a new static site has /dist, and an updated one dist: drift compares what is written.
    const renamed = vendor === "neutral" ? before.diffs.filter(({ field }) => field === "publishDir") : []
    expect([before.exists, before.diffs]).toEqual([true, renamed])

    const second = yield* upsertApp(request)
    expect([second.uuid, second.changelogEntry.action]).toEqual([first.uuid, "update"])
    expect(second.changelogEntry.changes.length).toBe(renamed.length)
    expect(detailOf("webhook", second)).toMatch(/^updated \(hook \d+\)$/)
    const found = yield* drift(request)
    expect([found.diffs, found.unknown]).toEqual([[], undefined])

    const hooks = yield* hooksOf("ann/shop")
    expect(hooks.map(({ active, events, secret }) => [active, events, secret])).toEqual([[
      true,
      ["push"],
      "hook-secret"
    ]])
    expect((yield* webhookStatus()).results).toMatchObject([{ platformSecretSet: true, githostWebhookActive: true }])
    neutralWords(yield* listApplications())
    yield* nothingRefused
  })
}))

const cases: ReadonlyArray<Case> = [
  ...upserts,
  {
    says: "brings every field to what is declared",
    world: { files: declaring({ name: "shop", buildpack: "autopack", port: 3000 }) },
    program: Effect.gen(function*() {
      yield* upsertApp(request)
      for (
        const entry of [
          {
            name: "shop",
            buildpack: "autopack",
            port: 3001,
            branch: "main",
            baseDirectory: "/web",
            static: true,
            publishDir: "out"
          },
          { name: "shop", port: 3001, buildpack: "composestack", composeLocation: "/deploy/compose.yml" },
          { name: "shop", port: 3001, buildpack: "imagefile" },
          { name: "shop", buildpack: "autopack", port: 3000 }
        ]
      ) {
        yield* declare(entry)
        const before = yield* drift(request)
        expect(before.diffs.length).toBeGreaterThan(0)
        yield* upsertApp(request)
        expect((yield* drift(request)).diffs).toEqual([])
      }
      yield* nothingRefused
    })
  },
  {
    says: "changes the port, and keeps the other variables",
    world: {
      files: declaring({ name: "shop", buildpack: "autopack", port: 3000 }),
      apps: [{ ...app, envs: { A: "1", HOST_PORT: "2999" } }]
    },
    program: Effect.gen(function*() {
      const result = yield* upsertApp(request)
      expect(detailOf("env", result)).toBe("HOST_PORT changed: 2999 is now 3000")
      const envs = yield* (yield* Platform).envs(result.uuid)
      expect(envs.map(({ record, value }) => [record.key, value])).toEqual([
        ["A", { _tag: "Known", value: "1" }],
        ["HOST_PORT", { _tag: "Known", value: "3000" }]
      ])
      yield* nothingRefused
    })
  },
  {
    says: "makes the port anew where it cannot be changed",
    world: {
      files: declaring({ name: "shop", buildpack: "autopack", port: 3000 }),
      apps: [{ ...app, envs: { HOST_PORT: "2999" } }]
    },
    program: Effect.gen(function*() {
      const { platform } = yield* Vendors
      const reply = { status: 500, body: { message: "not today" } }
      yield* platform.fail({ method: "PATCH", path: /envs/ }, HttpFault.Answer({ reply }))
      const result = yield* upsertApp(request)
      expect(detailOf("env", result)).toBe("HOST_PORT created again: 2999 is now 3000")
      expect((yield* listApplications())[0]?._host_port).toBe("3000")
      expect((yield* drift(request)).diffs).toEqual([])
    })
  },
  {
    says: "sets webhooks up twice and keeps one hook",
    world: { apps: [app] },
    program: Effect.gen(function*() {
      expect((yield* webhookStatus()).results).toMatchObject([{
        platformSecretSet: false,
        githostWebhookActive: false
      }])
      yield* setUpWebhooks({})
      const { results } = yield* setUpWebhooks({})
      expect(results).toMatchObject([{
        platform: "secret_set",
        githost: expect.stringMatching(/^updated \(hook \d+\)$/)
      }])
      expect(yield* hooksOf("ann/shop")).toHaveLength(1)
      expect((yield* webhookStatus()).results).toMatchObject([{ platformSecretSet: true, githostWebhookActive: true }])
      yield* tearDownWebhooks({})
      expect(yield* hooksOf("ann/shop")).toEqual([])
      expect((yield* webhookStatus()).results).toMatchObject([{
        platformSecretSet: false,
        githostWebhookActive: false
      }])
      yield* nothingRefused
    })
  },
  {
    says: "creates what a caller asks for, in neutral words",
    program: Effect.gen(function*() {
      yield* createApplication({ name: "shop", gitRepo: gitUrl, buildpack: "composestack", isStatic: true })
      const found = Option.getOrThrow(yield* findApplication("shop"))
      expect(found).toMatchObject({ build_pack: "composestack", compose_location: "/compose.yml" })
      const platform = yield* Platform
      const changes = { compose_location: "/b.yml", git_branch: "dev", publish_directory: "out" }
      neutralWords(yield* platform.updateApplication(found.uuid, changes))
      expect(yield* platform.application(found.uuid)).toMatchObject({ ...changes, is_static: true })
      const env = yield* platform.createEnv(found.uuid, "A", "1")
      neutralWords(env)
      yield* platform.deleteApplication(found.uuid)
      expect(yield* listApplications()).toEqual([])
      yield* nothingRefused
    })
  },
  {
    says: "finds the next port",
    world: { apps: [{ ...app, envs: { HOST_PORT: "3005" } }, { name: "b", uuid: "b" }] },
    program: Effect.gen(function*() {
      expect(yield* nextPort).toEqual({ nextPort: 3006, usedPorts: [2010, 3005] })
      yield* nothingRefused
    })
  }
]

const call = { query: {}, headers: {} }
const held = Option.all(contracts)

describe.skipIf(Option.isNone(held))("the vendors' own descriptions (BERTH_CONTRACTS)", () => {
  it("tell what fits from what does not", () => {
    const { gitHost, platform } = Option.getOrThrow(held)
    const app = "/api/v1/applications/a"
    const hooks = "/api/v1/repos/ann/shop/hooks"
    expect(platform({ ...call, method: "PATCH", path: app, body: { name: "a" } })).toEqual([])
    expect(platform({ ...call, method: "PATCH", path: app, body: { fqdn: "a" } })).toHaveLength(1)
    expect(platform({ ...call, method: "GET", path: "/api/v1/deploy", body: undefined })).toHaveLength(1)
    expect(platform({ ...call, method: "POST", path: `${app}/envs`, body: { key: "a-b" } })).toHaveLength(1)
    const config = { url: "https://a.test", content_type: "json", secret: "s" }
    expect(gitHost({ ...call, method: "POST", path: hooks, body: { type: "gitea", config } })).toEqual([])
    expect(gitHost({ ...call, method: "POST", path: hooks, body: { type: "githost", config } })).toHaveLength(1)
  })
})

describe.each(vendors)("with %s", (vendor) => {
  it.live.each(cases.filter((_, at) => inTurn(vendors, at).includes(vendor)))(
    "$says",
    ({ program, world }) => Effect.provide(program, vendorWorld(vendor, world))
  )
})

const named = vendors.filter((vendor) => vendor !== "neutral")
describe.each(inTurn(named, 0))("with %s alone", (vendor) => {
  const live = (says: string, world: VendorWorld, program: Effect.Effect<void, unknown, Everything>) =>
    it.live(says, () => Effect.provide(program, vendorWorld(vendor, world)))
  const hookUrl = "https://platform.test/webhooks/source/gitea/events/manual"

  live(
    "says what the token lacks instead of guessing",
    {
      files: declaring({ name: "shop", buildpack: "autopack", port: 3000 }),
      apps: [{ ...app, envs: { HOST_PORT: "2999" } }],
      sensitive: false
    },
    Effect.gen(function*() {
      expect(yield* listApplications()).toMatchObject([{ _host_port: null, _envs: [{ key: "HOST_PORT" }] }])
      const port = yield* Effect.flip(nextPort)
      expect([port.status, port.message]).toEqual([409, expect.stringContaining("read:sensitive")])
      expect(yield* drift(request)).toMatchObject({
        diffs: [],
        unknown: [
          { field: "port", label: "HOST_PORT", reason: expect.stringContaining("read:sensitive") },
          { label: "Webhook secret", reason: expect.stringContaining("read:sensitive") }
        ]
      })
      const stopped = yield* Effect.flip(upsertApp(request))
      expect([stopped.step, stopped.message]).toEqual(["env", expect.stringContaining("read:sensitive")])
      expect((yield* webhookStatus()).results).toMatchObject([
        { platformSecretSet: false, unknown: expect.stringContaining("read:sensitive") }
      ])
      yield* nothingRefused
    })
  )

  live(
    "does not take a random secret for its own",
    { apps: [app] },
    Effect.gen(function*() {
      expect((yield* webhookStatus()).results).toMatchObject([{ platformSecretSet: false }])
    })
  )

  live(
    "replaces a hook whose secret is another one, and keeps its branches",
    {
      apps: [app],
      gitHost: {
        repositories: {
          "ann/shop": [
            { type: "gitea", url: "https://other.test", secret: "keep" },
            { type: "gitea", url: hookUrl, secret: "old", active: false, branchFilter: "release/*" }
          ]
        }
      }
    },
    Effect.gen(function*() {
      yield* setUpWebhooks({})
      const hooks = yield* hooksOf("ann/shop")
      expect(hooks.map(({ active, branchFilter, secret, url }) => [url, active, secret, branchFilter])).toEqual([
        ["https://other.test", true, "keep", undefined],
        [hookUrl, true, "hook-secret", "release/*"]
      ])
      yield* nothingRefused
    })
  )

  live(
    "leaves no second hook when its caller goes away",
    { apps: [app], gitHost: { repositories: { "ann/shop": [{ type: "gitea", url: hookUrl, secret: "old" }] } } },
    Effect.gen(function*() {
      const { gitHost } = yield* Vendors
      yield* gitHost.fail({ method: "POST" }, HttpFault.Delay({ duration: "300 millis" }))
      const caller = yield* Effect.fork(setUpWebhooks({}))
      yield* Effect.repeat(gitHost.calls, {
        until: (calls) => calls.some(({ method }) => method === "POST"),
        schedule: Schedule.spaced("5 millis")
      })
      yield* Fiber.interrupt(caller)
      expect((yield* hooksOf("ann/shop")).map(({ secret }) => secret)).toEqual(["hook-secret"])
    })
  )

  live(
    "tears down beyond the first page of hooks",
    {
      apps: [app],
      gitHost: {
        repositories: {
          "ann/shop": Array.from({ length: 123 }, (_, index) => ({
            type: "gitea",
            url: index % 40 === 39 ? hookUrl : `https://other.test/${index}`
          }))
        }
      }
    },
    Effect.gen(function*() {
      expect((yield* tearDownWebhooks({})).results).toMatchObject([{ githost: "removed 3 hook(s)" }])
      expect(yield* hooksOf("ann/shop")).toHaveLength(120)
      yield* nothingRefused
    })
  )

  live(
    "keeps the flags of a variable that it changes",
    {
      files: declaring({ name: "shop", buildpack: "autopack", port: 3000 }),
      coolify: {
        applications: [{
          ...app,
          envs: { HOST_PORT: { value: "2999", is_literal: true, is_multiline: false, is_shown_once: false } }
        }]
      }
    },
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp(request)
      const { coolify } = yield* Vendors
      const envs = yield* Option.getOrThrow(coolify).state.envs(uuid)
      expect(envs.filter(({ is_preview }) => !is_preview)).toMatchObject([
        { key: "HOST_PORT", value: "3000", is_literal: true, is_multiline: false, is_shown_once: false }
      ])
      yield* nothingRefused
    })
  )

  live(
    "gives new applications no address of the platform's own",
    { files: declaring({ name: "shop", buildpack: "composestack" }) },
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp(request)
      const { coolify } = yield* Vendors
      expect(yield* Option.getOrThrow(coolify).state.app(uuid)).toMatchObject({
        fqdn: null,
        docker_compose_domains: null
      })
    })
  )

  live(
    "asks for the compose service that a domain belongs to",
    {
      coolify: { composeFile: "services:\n  web: {}\n  worker: {}\n" },
      files: declaring({ name: "shop", buildpack: "composestack", domain: "shop.example.com", server: "localhost" })
    },
    Effect.gen(function*() {
      const error = yield* Effect.flip(upsertApp(request))
      expect([error.step, error.message]).toEqual(["route", expect.stringContaining("\"service\"")])
    })
  )

  live(
    "does not take the service of a domain for one that the compose file lacks",
    {
      coolify: { composeFile: "services:\n  web: {}\n  worker: {}\n" },
      files: declaring({
        name: "shop",
        buildpack: "composestack",
        domain: "shop.example.com",
        server: "localhost",
        service: "wep"
      })
    },
    Effect.gen(function*() {
      const { message, step } = yield* Effect.flip(upsertApp(request))
      expect([step, message]).toEqual([
        "route",
        expect.stringMatching(/has no service "wep", and would ignore a domain of it\. It has: web, worker\./)
      ])
    })
  )

  live(
    "gives a compose stack another address and leaves its other services theirs",
    {
      coolify: {
        applications: [{
          ...app,
          build_pack: "dockercompose",
          docker_compose_raw: "services:\n  api: {}\n  web: {}\n",
          docker_compose_domains: JSON.stringify({
            api: { domain: "https://api.test" },
            web: { domain: "https://old.test" }
          })
        }]
      }
    },
    Effect.gen(function*() {
      const platform = yield* Platform
      yield* platform.setDomain({ uuid: app.uuid, buildPack: "composestack" }, "https://new.test", "web")
      yield* platform.updateApplication(app.uuid, { git_branch: "main" })
      expect(yield* platform.updateApplication(app.uuid, { domains: "" })).toBeNull()
      const { coolify } = yield* Vendors
      const stored = yield* Option.getOrThrow(coolify).state.app(app.uuid)
      expect([stored.git_branch, JSON.parse(stored.docker_compose_domains ?? "")]).toEqual([
        "main",
        { api: { domain: "https://api.test" }, web: { domain: "https://new.test" } }
      ])
      yield* nothingRefused
    })
  )

  live(
    "says when no deployment was queued",
    { files: declaring({ name: "shop" }), apps: [app] },
    Effect.gen(function*() {
      const { coolify } = yield* Vendors
      yield* Option.getOrThrow(coolify).state.holdDeployments(true)
      yield* upsertApp(request)
      const second = yield* upsertApp(request)
      expect(second.steps.find(({ step }) => step === "deploy")).toEqual({
        step: "deploy",
        status: "skipped",
        detail: "the platform queued no deployment: Deployment already queued for this commit."
      })
    })
  )

  live(
    "says in neutral words what the platform refuses",
    { apps: [app] },
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Effect.flatMap(
          Platform,
          (platform) => platform.updateApplication(app.uuid, { compose_location: "/", nonsense: 1 })
        )
      )
      expect([error.status, error.message]).toEqual([
        422,
        expect.stringContaining("nonsense: This field is not allowed.")
      ])
      expect(error.message).toMatch(/[( ]compose_location: /)
    })
  )

  live(
    "sends no secret back in an error",
    { apps: [app], settings: { "gitHost.webhookSecret": Redacted.make("s3cret-value") } },
    Effect.gen(function*() {
      const { platform } = yield* Vendors
      const reply = { status: 422, body: { message: "s3cret-value is too short" } }
      yield* platform.fail({ method: "PATCH" }, HttpFault.Answer({ reply }))
      expect((yield* setUpWebhooks({})).results[0]?.platform).toMatch(/^error: Platform API 422: \S+ is too short$/)
      expect(JSON.stringify(yield* setUpWebhooks({}))).not.toContain("s3cret-value")
    })
  )
})
