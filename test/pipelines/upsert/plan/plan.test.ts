import { describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { expect } from "vitest"
import { decide } from "../../../../src/pipelines/upsert/plan/decide.ts"
import { plan } from "../../../../src/pipelines/upsert/plan/plan.ts"
import { upsertApp } from "../../../../src/pipelines/upsert/upsertApp.ts"
import { GitHostCalls } from "../../../layers/GitHostTest.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../../layers/memoryWorld.ts"
import { PlatformCalls } from "../../../layers/PlatformTest.ts"
import { ProxyFileText } from "../../../layers/ProxyFileTest.ts"

const request = { projectPath: "/srv/shop" }
const hookUrl = "http://platform.test/webhooks/source/githost/events/manual"
const entry = { name: "shop", port: 3000, domain: "shop.example.com" }
const live = {
  uuid: "app-1",
  name: "shop",
  git_repository: "git@git.test:2004/ann/shop.git",
  publish_directory: "/",
  manual_webhook_secret_githost: "hook-secret"
}
const hooks = { repositories: { "ann/shop": [{ url: hookUrl, active: true }] } }
const noSecret = { "gitHost.webhookSecret": Redacted.make("") }

const within = (world: MemoryWorld) => <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.provide(program, memoryWorld(world))

const reading = ["applications", "application", "envs", "servers", "webhookSecretSet", "hooks"]
/** What was called to change something, in that order. */
const written = Effect.gen(function*() {
  const platform = (yield* Effect.flatten(PlatformCalls)).map(([operation]) => String(operation))
  const { asked } = yield* GitHostCalls
  const gitHost = (yield* asked).map(([operation]) => String(operation))
  return [...platform, ...gitHost].filter((operation) => !reading.includes(operation))
})
/** The calls of a plan that reach the platform or the git host. */
const outbound = (writes: ReadonlyArray<string>) =>
  writes.filter((write) => write !== "proxyFile" && write !== "changelog")

interface Case {
  readonly step: string
  readonly kind: "nothing" | "change" | "skip" | "refused" | "unreadable"
  readonly world: MemoryWorld
  readonly detail: string
  /** How the upsert stops, when it does. */
  readonly stops?: string
  /** The fields that would change. */
  readonly fields?: ReadonlyArray<string>
}

const there = (platform: MemoryWorld["platform"] = {}, more: Partial<MemoryWorld> = {}): MemoryWorld => ({
  files: declaring({ name: "shop" }),
  gitHost: hooks,
  platform: { applications: [live], ...platform },
  ...more
})

const cases: ReadonlyArray<Case> = [
  { step: "config", kind: "nothing", world: there(), detail: "shop: autopack, no port" },
  { step: "server", kind: "nothing", world: there(), detail: "server server-main at 192.168.1.20" },
  { step: "check", kind: "nothing", world: there(), detail: "UPDATE app-1" },
  { step: "check", kind: "nothing", world: { files: declaring({ name: "shop" }) }, detail: "CREATE" },
  { step: "validate", kind: "nothing", world: there(), detail: "no changes" },
  {
    step: "validate",
    kind: "nothing",
    world: there({ applications: [{ ...live, git_branch: "old" }] }),
    detail: "1 change: Branch",
    fields: ["git_branch"]
  },
  { step: "sync", kind: "nothing", world: there(), detail: "app-1 is as declared; its fields are written again" },
  {
    step: "sync",
    kind: "change",
    world: there({ applications: [{ ...live, git_branch: "old", base_directory: "/web" }] }),
    detail: "updates app-1: 2 changes: Branch, Base directory",
    fields: ["git_branch", "base_directory"]
  },
  {
    step: "sync",
    kind: "change",
    world: { files: declaring({ name: "shop" }), settings: noSecret },
    detail: "creates \"shop\"",
    fields: ["_action", "build_pack", "git_branch", "base_directory", "git_repository"]
  },
  {
    step: "sync",
    kind: "refused",
    world: { files: declaring({ name: "shop" }), without: ["platform.projectUuid"] },
    detail: "platform.projectUuid",
    stops: "sync"
  },
  { step: "env", kind: "nothing", world: there(), detail: "no port" },
  {
    step: "env",
    kind: "nothing",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "3000" } }] }, {
      files: declaring({ name: "shop", port: 3000 })
    }),
    detail: "HOST_PORT is 3000 already"
  },
  {
    step: "env",
    kind: "change",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "2999" } }] }, {
      files: declaring({ name: "shop", port: 3000 })
    }),
    detail: "changes HOST_PORT from 2999 to 3000",
    fields: ["HOST_PORT"]
  },
  {
    step: "env",
    kind: "change",
    world: there({}, { files: declaring({ name: "shop", port: 3000 }) }),
    detail: "sets HOST_PORT to 3000",
    fields: ["HOST_PORT"]
  },
  {
    step: "env",
    kind: "refused",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "2999" } }], hidden: ["HOST_PORT"] }, {
      files: declaring({ name: "shop", port: 3000 })
    }),
    detail: "HOST_PORT is set on the platform, but its value cannot be read",
    stops: "env"
  },
  {
    step: "env",
    kind: "unreadable",
    world: there({ failing: { envs: 500 } }, { files: declaring({ name: "shop", port: 3000 }) }),
    detail: "sets HOST_PORT to 3000",
    fields: ["HOST_PORT"]
  },
  { step: "route", kind: "skip", world: there(), detail: "no domain" },
  {
    step: "route",
    kind: "nothing",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "2010" } }] }, {
      files: declaring({ name: "shop", port: 2010, domain: "blog.example.com" })
    }),
    detail: "blog.example.com is in the proxy file already"
  },
  {
    step: "route",
    kind: "change",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "3000" } }] }, { files: declaring(entry) }),
    detail: "route shop is inserted: shop.example.com to http://192.168.1.20:3000",
    fields: ["traefik_route"]
  },
  {
    step: "route",
    kind: "change",
    world: there({ applications: [{ ...live, fqdn: "https://old.example.com", envs: { HOST_PORT: "2010" } }] }, {
      files: declaring({ name: "shop", port: 2010, domain: "blog.example.com" })
    }),
    detail: "blog.example.com is in the proxy file already",
    fields: ["fqdn"]
  },
  {
    step: "route",
    kind: "change",
    world: there({}, { files: declaring({ name: "shop", domain: "shop.example.com", server: "localhost" }) }),
    detail: "lets the platform serve https://shop.example.com",
    fields: ["fqdn"]
  },
  {
    step: "route",
    kind: "nothing",
    world: there({ applications: [{ ...live, fqdn: "https://shop.example.com" }] }, {
      files: declaring({ name: "shop", domain: "shop.example.com", server: "localhost" })
    }),
    detail: "the platform serves https://shop.example.com already"
  },
  {
    step: "route",
    kind: "refused",
    world: there({ applications: [{ ...live, name: "blog", envs: { HOST_PORT: "3000" } }] }, {
      files: declaring({ ...entry, name: "blog" })
    }),
    detail: "The route name \"blog\" is taken",
    stops: "route"
  },
  {
    step: "route",
    kind: "refused",
    world: there({}, { files: declaring({ ...entry, name: "---" }) }),
    detail: "A route is named by letters and digits",
    stops: "route"
  },
  {
    step: "route",
    kind: "refused",
    world: there({}, { files: declaring(entry), proxy: "http:\n  routers: {}\n" }),
    detail: "was left as it is",
    stops: "route"
  },
  {
    step: "route",
    kind: "unreadable",
    world: there({}, { files: declaring(entry), without: ["proxy.configFile"] }),
    detail: "proxy.configFile",
    stops: "route"
  },
  { step: "changelog", kind: "nothing", world: there(), detail: "platform.changelog.json: an entry with no changes" },
  {
    step: "changelog",
    kind: "change",
    world: there({ applications: [{ ...live, git_branch: "old" }] }),
    detail: "platform.changelog.json: an entry with 1 change: Branch",
    fields: ["git_branch"]
  },
  { step: "deploy", kind: "nothing", world: there(), detail: "nothing new to deploy" },
  {
    step: "deploy",
    kind: "change",
    world: there({ applications: [{ ...live, git_branch: "old" }] }),
    detail: "the platform is asked to deploy",
    fields: ["git_branch"]
  },
  { step: "webhook", kind: "nothing", world: there(), detail: "pushes are delivered already" },
  {
    step: "webhook",
    kind: "change",
    world: there({ applications: [{ ...live, manual_webhook_secret_githost: "" }] }, {
      gitHost: { repositories: { "ann/shop": [] } }
    }),
    detail: "sets up: Webhook secret, Webhook",
    fields: ["manual_webhook_secret_githost", "url"]
  },
  {
    step: "webhook",
    kind: "change",
    world: there({}, { gitHost: { repositories: { "ann/shop": [{ url: hookUrl, active: false }] } } }),
    detail: "sets up: Webhook 1 active",
    fields: ["active"]
  },
  {
    step: "webhook",
    kind: "skip",
    world: there({}, { settings: noSecret }),
    detail: "no webhook secret is configured"
  },
  {
    step: "webhook",
    kind: "unreadable",
    world: there({}, { gitHost: { failing: { hooks: 403 } } }),
    detail: "the webhook could not be set up: Git host API 403: not today"
  }
]

const recorded = ["changelog", "deployment"]

describe("plan", () => {
  it.effect.each(cases)(
    "$step, $kind: $detail",
    ({ detail, fields = [], kind, step, stops, world }) =>
      Effect.gen(function*() {
        const proxyBefore = yield* Effect.flatten(ProxyFileText)
        const { writes } = yield* decide(request)
        const first = yield* plan(request)
        expect(yield* written).toEqual([])
        expect(yield* Effect.flatten(ProxyFileText)).toBe(proxyBefore)

        const planned = first.steps.find((one) => one.step === step)
        expect(planned?.detail).toContain(detail)
        const will = kind === "unreadable" ? planned?.will : kind === "refused" ? "skip" : kind
        expect(planned?.will).toBe(will)
        if (kind === "unreadable") expect(first.unknown.length).toBeGreaterThan(0)
        if (fields.length > 0) {
          expect(first.changes.filter(({ target }) => !recorded.includes(target)).map(({ field }) => field))
            .toEqual(expect.arrayContaining([...fields]))
          const only = step === "webhook" ? [] : fields.includes("fqdn") ? ["deployment"] : recorded
          expect(first.changes.map(({ target }) => target).filter((target) => recorded.includes(target))).toEqual(only)
        }

        const outcome = yield* Effect.either(upsertApp(request))
        if (stops !== undefined) {
          expect(outcome).toMatchObject({ _tag: "Left", left: { step: stops } })
          expect(first.warnings).toContainEqual(expect.stringContaining(`${stops}: an upsert would stop here`))
        } else {
          expect(outcome._tag).toBe("Right")
          const second = yield* plan(request)
          expect([second.action, second.changes]).toEqual(
            kind === "unreadable" && step === "env" ? ["update", expect.anything()] : ["none", []]
          )
        }
        expect(yield* written).toEqual(outbound(writes))
      }).pipe(within(world))
  )

  it.effect.each<[string, MemoryWorld, number, string]>([
    ["no project file", {}, 500, "No project file found"],
    ["a file that is not valid", { files: declaring({ port: 1 }) }, 422, "entry 1: name is missing"],
    ["a domain without a port", { files: declaring({ name: "shop", domain: "a.example.com" }) }, 500, "no port"],
    [
      "an unknown server",
      { files: declaring({ name: "shop", server: "no" }) },
      500,
      "The platform has no server \"no\""
    ],
    [
      "servers that cannot be read",
      {
        files: declaring({ name: "shop", server: "web" }),
        platform: { failing: { servers: 503 } }
      },
      502,
      "(an upsert would stop at server)"
    ],
    [
      "a platform that does not answer",
      {
        files: declaring({ name: "shop" }),
        platform: { failing: { applications: 503 } }
      },
      502,
      "(an upsert would stop at check)"
    ]
  ])("cannot be made with %s", ([, world, status, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(plan(request))
      expect(error.status).toBe(status)
      expect(error.message).toContain(message)
      expect(yield* written).toEqual([])
    }).pipe(within(world)))

  it.effect("shows no secret", () =>
    Effect.gen(function*() {
      const text = JSON.stringify(yield* plan(request))
      expect(text).toContain("manual_webhook_secret_githost")
      expect(text).not.toContain("hook-secret")
      expect(text).not.toContain("another-secret")
      expect(text).not.toContain("platform-token")
    }).pipe(within(there({
      applications: [{
        ...live,
        manual_webhook_secret_githost: "another-secret",
        git_repository: "https://platform-token@git.test/a.git"
      }]
    }))))

  it.effect("says that a hidden secret is unknown, and not that it changes", () =>
    Effect.gen(function*() {
      const { action, unknown } = yield* plan(request)
      expect(action).toBe("none")
      expect(unknown).toEqual([expect.stringContaining("the secret of webhook 1")])
    }).pipe(within(there())))
})
