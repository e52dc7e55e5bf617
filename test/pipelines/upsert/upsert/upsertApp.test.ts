import { describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { expect } from "vitest"
import { upsertApp } from "../../../../src/pipelines/upsert/upsert.ts"
import { LocalFiles } from "../../../../src/services/local/LocalFiles.ts"
import { Steps } from "../../../../src/services/runs/Steps.ts"
import { localText } from "../../../../src/testing/LocalFilesTest.ts"
import { GitHostCalls, PlatformCalls } from "../../../../src/testing/PlatformTest.ts"
import { ProxyFileText } from "../../../../src/testing/SshTest.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../../layers/worlds/memoryWorld.ts"

const request = { projectPath: "/srv/shop" }
const hookUrl = "http://platform.test/webhooks/source/githost/events/manual"
const quiet = { "gitHost.webhookSecret": Redacted.make("") }
const gitUrl = "git@git.test:2004/ann/shop.git"

/** A program in a world of its own. */
const within = (world: MemoryWorld) => <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.provide(program, memoryWorld(world))

const asked = Effect.flatten(PlatformCalls)
const operations = Effect.map(asked, (calls) => calls.map(([operation]) => operation))
const stepNames = ["config", "server", "check", "validate", "sync", "env", "route", "changelog", "deploy", "webhook"]

const live = {
  uuid: "app-1",
  name: "shop",
  git_repository: gitUrl,
  publish_directory: "/",
  manual_webhook_secret_githost: ""
}

describe("upsertApp", () => {
  it.effect("creates an application, step by step", () =>
    Effect.gen(function*() {
      const result = yield* upsertApp(request)
      const { uuid } = result
      expect(result.success).toBe(true)
      expect(result.domain).toBe("shop.example.com")
      expect(result.steps.map(({ step }) => step)).toEqual(stepNames)
      expect(result.steps[0]?.detail).toMatch(
        /^shop: autopack, port 3000\. platform\.json, entry 1 \("shop"\): kept is not a known field\. Known fields: /
      )
      expect(result.steps.map(({ status }) => status)).toEqual(stepNames.map(() => "done"))
      expect(result.changelogEntry).toEqual({
        timestamp: "1970-01-01T00:00:00.000Z",
        action: "create",
        appName: "shop",
        uuid,
        changes: [
          { field: "_action", label: "Action", old: null, new: "CREATED" },
          { field: "HOST_PORT", label: "HOST_PORT", old: null, new: "3000" },
          {
            field: "traefik_route",
            label: "Proxy route",
            old: null,
            new: "shop.example.com to http://192.168.1.20:3000"
          }
        ],
        configSnapshot: { name: "shop", port: 3000, domain: "shop.example.com", kept: { as: "it is" } }
      })
      expect(JSON.parse(yield* localText("/srv/shop/platform.changelog.json"))).toEqual([result.changelogEntry])
      expect((yield* asked).slice(1)).toEqual([
        ["createApplication", expect.objectContaining({ server_uuid: "server-main", build_pack: "autopack" })],
        ["updateApplication", uuid, { domains: "" }],
        ["envs", uuid],
        ["createEnv", uuid, "HOST_PORT", "3000"],
        ["clearDomains", uuid],
        ["deploy", uuid],
        ["setWebhookSecret", uuid, "hook-secret"]
      ])
      const { asked: gitHostAsked } = yield* GitHostCalls
      expect(yield* gitHostAsked).toEqual([
        ["hooks", "ann/shop"],
        ["createHook", "ann/shop", hookUrl, "hook-secret"]
      ])
      expect(yield* Effect.flatten(ProxyFileText)).toContain("    shop:\n      rule: \"Host(`shop.example.com`)\"")
    }).pipe(within({
      files: declaring({ name: "shop", port: 3000, domain: "shop.example.com", kept: { as: "it is" } })
    })))

  it.effect("finds the second time what it made the first", () =>
    Effect.gen(function*() {
      const first = yield* upsertApp(request)
      const second = yield* upsertApp(request)
      expect(second.uuid).toBe(first.uuid)
      expect(second.changelogEntry.action).toBe("update")
      expect(second.changelogEntry.changes).toEqual([])
      expect(second.steps.find(({ step }) => step === "webhook")?.detail).toMatch(/^updated \(hook \d+\)$/)
      const created = (yield* operations).filter((operation) => operation === "createApplication")
      expect(created).toHaveLength(1)
      expect(JSON.parse(yield* localText("/srv/shop/platform.changelog.json"))).toHaveLength(2)
    }).pipe(within({ files: declaring({ name: "shop", port: 3000, domain: "shop.example.com" }) })))

  it.effect("updates even where nothing differs", () =>
    Effect.gen(function*() {
      const { changelogEntry, domain, steps } = yield* upsertApp(request)
      expect(domain).toBe("")
      expect(changelogEntry.changes).toEqual([])
      expect(steps.map(({ detail, status, step }) => [step, status, detail])).toEqual([
        ["config", "done", "shop: autopack, no port"],
        ["server", "done", "server server-main at 192.168.1.20"],
        ["check", "done", "UPDATE app-1"],
        ["validate", "done", "no changes"],
        ["sync", "done", "updated app-1"],
        ["env", "done", "no port"],
        ["route", "skipped", "no domain"],
        ["changelog", "done", "platform.changelog.json: no changes"],
        ["deploy", "done", "the platform was asked to deploy"],
        ["webhook", "skipped", expect.stringContaining("gitHost.webhookSecret")]
      ])
      expect(yield* operations).toEqual(["applications", "application", "updateApplication", "deploy"])
    }).pipe(within({
      files: declaring({ name: "shop" }),
      platform: { applications: [live] },
      settings: quiet
    })))

  it.effect.each([
    ["web", "192.168.1.30"],
    ["main", "192.168.1.20"]
  ])("routes to the server %s by its address", ([server = "", ip = ""]) =>
    Effect.gen(function*() {
      yield* upsertApp(request)
      expect((yield* operations)[0]).toBe("servers")
      expect(yield* Effect.flatten(ProxyFileText)).toContain(`- url: "http://${ip}:3000"`)
    }).pipe(within({ files: declaring({ name: "shop", port: 3000, domain: "shop.example.com", server }) })))

  it.effect.each(["here", "localhost"])(
    "lets the platform itself serve what runs on %s",
    (server) =>
      Effect.gen(function*() {
        const { changelogEntry, uuid } = yield* upsertApp(request)
        expect(yield* asked).toContainEqual(["setDomain", uuid, "https://shop.example.com"])
        expect(yield* operations).not.toContain("clearDomains")
        expect(yield* Effect.flatten(ProxyFileText)).not.toContain("shop")
        expect(changelogEntry.changes.map(({ field }) => field)).toEqual(["_action"])
      }).pipe(within({ files: declaring({ name: "shop", domain: "shop.example.com", server }) }))
  )

  it.effect("names the compose service that the domain belongs to", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp(request)
      expect(yield* asked).toContainEqual(["setDomain", uuid, "https://shop.example.com", "web"])
    }).pipe(within({
      files: declaring({
        name: "shop",
        buildpack: "composestack",
        domain: "shop.example.com",
        server: "localhost",
        service: "web"
      })
    })))

  it.effect.each<[string, ReadonlyArray<string>]>([
    ["services:\n  web:\n    image: a\n", ["web"]],
    ["services:\n  web:\n    image: a\n  db:\n    image: b\n", []],
    ["services: [", []]
  ])("names the only service of the compose file %j", ([compose, service]) =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp(request)
      expect(yield* asked).toContainEqual(["setDomain", uuid, "https://shop.example.com", ...service])
    }).pipe(within({
      files: {
        ...declaring({ name: "shop", buildpack: "composestack", domain: "shop.example.com", server: "localhost" }),
        "/srv/shop/compose.yml": compose
      }
    })))

  it.effect("says when the platform queued no deployment", () =>
    Effect.gen(function*() {
      const { steps, success } = yield* upsertApp(request)
      expect(success).toBe(true)
      expect(steps.find(({ step }) => step === "deploy"))
        .toEqual({ step: "deploy", status: "skipped", detail: "the platform queued no deployment: it is busy" })
    }).pipe(within({ files: declaring({ name: "shop" }), platform: { notQueued: "it is busy" } })))

  it.effect("leaves the addresses of a compose stack alone", () =>
    Effect.gen(function*() {
      yield* upsertApp(request)
      expect(yield* operations).toEqual([
        "applications",
        "createApplication",
        "envs",
        "createEnv",
        "deploy",
        "setWebhookSecret"
      ])
    }).pipe(within({
      files: declaring({ name: "shop", buildpack: "composestack", port: 3000, domain: "shop.example.com" })
    })))

  it.effect("goes on when the platform keeps its own address", () =>
    Effect.gen(function*() {
      const { steps } = yield* upsertApp(request)
      expect(steps.find(({ step }) => step === "route")?.detail)
        .toBe("route shop inserted: shop.example.com to http://192.168.1.20:3000")
    }).pipe(within({
      files: declaring({ name: "shop", port: 3000, domain: "shop.example.com" }),
      platform: { failing: { clearDomains: 422 } }
    })))

  it.effect("leaves a domain alone that the proxy file has", () =>
    Effect.gen(function*() {
      const { changelogEntry, steps } = yield* upsertApp(request)
      expect(steps.find(({ step }) => step === "route"))
        .toMatchObject({
          status: "done",
          detail: expect.stringContaining("blog.example.com is in the proxy file already")
        })
      expect(changelogEntry.changes.map(({ field }) => field)).toEqual(["_action", "HOST_PORT"])
    }).pipe(within({ files: declaring({ name: "shop", port: 2010, domain: "blog.example.com" }) })))

  it.effect("takes its own route along to another domain and port", () =>
    Effect.gen(function*() {
      yield* upsertApp(request)
      const files = yield* LocalFiles
      const entry = { name: "shop", port: 3001, domain: "store.example.com" }
      yield* files.write("/srv/shop/platform.json", JSON.stringify(entry))
      const { changelogEntry, steps } = yield* upsertApp(request)
      expect(steps.find(({ step }) => step === "route")?.detail)
        .toBe("route shop replaced: store.example.com to http://192.168.1.20:3001")
      expect(changelogEntry.changes.map(({ field }) => field)).toEqual(["HOST_PORT", "traefik_route"])
      expect(yield* Effect.flatten(ProxyFileText)).not.toContain("shop.example.com")
    }).pipe(within({ files: declaring({ name: "shop", port: 3000, domain: "shop.example.com" }) })))

  it.effect.each<[string, number | undefined, string, ReadonlyArray<string>]>([
    ["3000", undefined, "HOST_PORT is 3000 already", ["envs"]],
    ["2999", undefined, "HOST_PORT changed: 2999 is now 3000", ["envs", "updateEnv"]],
    ["2999", 500, "HOST_PORT created again: 2999 is now 3000", ["envs", "updateEnv", "deleteEnv", "createEnv"]]
  ])(
    "turns the port %s (PATCH fails with %s) into 3000",
    ([before, failing, detail, expected]) =>
      Effect.gen(function*() {
        const { changelogEntry, steps } = yield* upsertApp(request)
        expect(steps.find(({ step }) => step === "env")?.detail).toBe(detail)
        expect((yield* operations).filter((operation) => /env/i.test(operation))).toEqual(expected)
        expect(changelogEntry.changes).toEqual(
          before === "3000" ? [] : [{ field: "HOST_PORT", label: "HOST_PORT", old: before, new: "3000" }]
        )
      }).pipe(within({
        files: declaring({ name: "shop", port: 3000 }),
        platform: {
          applications: [{ ...live, envs: { OTHER: "1", HOST_PORT: before } }],
          ...(failing === undefined ? {} : { failing: { updateEnv: failing } })
        }
      }))
  )

  it.effect("sets a port where the variables cannot be read", () =>
    Effect.gen(function*() {
      const { steps } = yield* upsertApp(request)
      expect(steps.find(({ step }) => step === "env")?.detail)
        .toBe("HOST_PORT set to 3000; the variables could not be read: Platform API 500: not today")
    }).pipe(within({
      files: declaring({ name: "shop", port: 3000 }),
      platform: { applications: [live], failing: { envs: 500 } }
    })))

  it.effect("does not overwrite a port that it may not see", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(upsertApp(request))
      expect(error.message).toBe(
        "HOST_PORT is set on the platform, but its value cannot be read, so it was not overwritten: " +
          "the token lacks an ability (upsert stopped at env)"
      )
      expect((yield* operations).at(-1)).toBe("envs")
    }).pipe(within({
      files: declaring({ name: "shop", port: 3000 }),
      platform: { applications: [{ ...live, envs: { HOST_PORT: "2999" } }], hidden: ["HOST_PORT"] }
    })))

  it.effect("follows up a static site", () =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp(request)
      expect(yield* asked).toContainEqual([
        "updateApplication",
        uuid,
        { is_static: true, publish_directory: "/dist", domains: "" }
      ])
      const [, [, created] = []] = yield* asked
      expect(created).toMatchObject({ is_static: true, publish_directory: "dist" })
    }).pipe(within({ files: declaring({ name: "shop", static: true }) })))

  it.effect("updates the hook that is there, inactive as it is", () =>
    Effect.gen(function*() {
      const { steps } = yield* upsertApp(request)
      expect(steps.at(-1)).toEqual({ step: "webhook", status: "done", detail: "updated (hook 2)" })
      const { hooks } = yield* GitHostCalls
      expect((yield* hooks("bob/store")).map(({ active, secret }) => [active, secret])).toEqual([
        [false, ""],
        [true, "hook-secret"]
      ])
    }).pipe(within({
      files: declaring({ name: "shop", gitOwner: "bob", repo: "store" }),
      gitHost: {
        repositories: { "bob/store": [{ url: "http://other.test", active: false }, { url: hookUrl, active: false }] }
      }
    })))

  it.effect("only warns when the webhook fails", () =>
    Effect.gen(function*() {
      const { steps, success } = yield* upsertApp(request)
      expect(success).toBe(true)
      expect(steps.at(-1)).toEqual({
        step: "webhook",
        status: "done",
        detail: "Warning: the webhook could not be set up: Git host API 403: not today"
      })
    }).pipe(within({ files: declaring({ name: "shop" }), gitHost: { failing: { hooks: 403 } } })))

  it.effect("only warns when the platform refuses the secret", () =>
    Effect.gen(function*() {
      const { steps } = yield* upsertApp(request)
      expect(steps.at(-1)?.detail).toBe("Warning: the webhook could not be set up: Platform API 403: not today")
    }).pipe(within({ files: declaring({ name: "shop" }), platform: { failing: { setWebhookSecret: 403 } } })))
})

describe("upsertApp stops", () => {
  const stops: ReadonlyArray<readonly [says: string, world: MemoryWorld, message: string, last: string | undefined]> = [
    ["without a project file", {}, "No project file found: \"/srv/shop\"", undefined],
    ["with an empty project file", { files: declaring([]) }, "No project file found", undefined],
    ["with a broken project file", { files: declaring({ port: 1 }) }, "entry 1: name is missing", undefined],
    [
      "on a domain without a port",
      { files: declaring({ name: "shop", domain: "shop.example.com" }) },
      "\"shop\" has the domain shop.example.com and no port",
      undefined
    ],
    [
      "on a domain without a port on another server",
      { files: declaring({ name: "shop", domain: "shop.example.com", server: "web" }) },
      "no port: add \"port\"",
      "servers"
    ],
    [
      "on a server that is not there",
      { files: declaring({ name: "shop", server: "nowhere" }) },
      "there is \"main\", \"web\", \"here\", \"localhost\"",
      "servers"
    ],
    [
      "when the platform does not answer",
      { files: declaring({ name: "shop" }), platform: { failing: { applications: 503 } } },
      "Platform API 503: not today (upsert stopped at check)",
      "applications"
    ],
    [
      "when the platform refuses the application",
      { files: declaring({ name: "shop" }), platform: { failing: { createApplication: 422 } } },
      "Platform API 422: not today (upsert stopped at sync)",
      "createApplication"
    ],
    [
      "when the port can be neither changed nor deleted",
      {
        files: declaring({ name: "shop", port: 3000 }),
        platform: {
          applications: [{ ...live, envs: { HOST_PORT: "1" } }],
          failing: { updateEnv: 500, deleteEnv: 500 }
        }
      },
      "Platform API 500: not today (upsert stopped at env)",
      "deleteEnv"
    ],
    [
      "on a proxy file without its sections",
      { files: declaring({ name: "shop", port: 3000, domain: "shop.example.com" }), proxy: "http:\n  routers: {}\n" },
      "(upsert stopped at route)",
      "clearDomains"
    ],
    [
      "on a name that gives no route",
      { files: declaring({ name: "---", port: 3000, domain: "shop.example.com" }) },
      "A route is named by letters and digits",
      "clearDomains"
    ],
    [
      "when the deployment is refused",
      { files: declaring({ name: "shop" }), platform: { failing: { deploy: 400 } } },
      "(upsert stopped at deploy)",
      "deploy"
    ]
  ]
  it.effect.each(stops)("%s", ([, world, message, last]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(upsertApp(request))
      expect(error.status).toBe(500)
      expect(error.message).toContain(message)
      expect((yield* operations).at(-1)).toBe(last)
      const steps = yield* (yield* Steps).all
      expect(steps.at(-1)).toEqual({ step: error.step, status: "error", detail: error.reason })
    }).pipe(within(world)))

  it.effect("when the application is not declared", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(upsertApp({ ...request, appName: "Shop" }))
      expect(error.message).toContain(
        "Application \"Shop\" not found in the platform.json of /srv/shop: it declares \"shop\""
      )
    }).pipe(within({ files: declaring({ name: "shop" }) })))
})
