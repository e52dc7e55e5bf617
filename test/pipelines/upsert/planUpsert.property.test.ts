import { describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Redacted } from "effect"
import { expect } from "vitest"
import { bindToPlan, decideUpsert, planUpsert, upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { GitHostCalls, type GitHostTestOptions, PlatformCalls } from "../../../src/testing/PlatformTest.ts"
import { ProxyFileText } from "../../../src/testing/SshTest.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../layers/worlds/memoryWorld.ts"
import { plainFile } from "../routes/proxyFiles.ts"

const request = { projectPath: "/srv/shop" }
const hookUrl = "http://platform.test/webhooks/source/githost/events/manual"
const domain = fc.constantFrom("shop.example.com", "store.example.com", "blog.example.com")

const build = fc.record({
  buildpack: fc.constantFrom("autopack", "composestack", "imagefile"),
  branch: fc.constantFrom("master", "main"),
  baseDirectory: fc.constantFrom("/", "/web"),
  composeLocation: fc.constantFrom("/compose.yml", "/deploy/compose.yml")
}, { requiredKeys: [] })
const site = fc.constantFrom(
  {},
  { static: true },
  { static: true, publishDir: "/out" },
  { static: false, publishDir: "/" }
)
const place = fc.oneof(
  fc.constant({}),
  fc.record({ port: fc.constantFrom(3000, 3001) }),
  fc.record({ port: fc.constantFrom(3000, 3001), domain }),
  fc.record({ port: fc.constantFrom(3000, 3001), domain, server: fc.constantFrom("web", "main") }),
  fc.record({ domain, server: fc.constantFrom("localhost", "here") })
)
const entry = fc.tuple(build, site, place).map((parts) => Object.assign({ name: "shop" }, ...parts))

const application = fc.record({
  uuid: fc.constant("app-1"),
  name: fc.constant("shop"),
  git_repository: fc.constantFrom("git@git.test:2004/ann/shop.git", "git@git.test:2004/ann/old.git"),
  build_pack: fc.constantFrom("autopack", "composestack", "imagefile"),
  git_branch: fc.constantFrom("master", "main"),
  base_directory: fc.constantFrom("/", "/web"),
  compose_location: fc.constantFrom(null, "/compose.yml"),
  is_static: fc.boolean(),
  publish_directory: fc.constantFrom(null, "/", "/out", "dist", "/dist"),
  ports_exposes: fc.constantFrom("3000", "80"),
  fqdn: fc.constantFrom(null, "https://shop.example.com", "https://elsewhere.example.com"),
  manual_webhook_secret_githost: fc.constantFrom(null, "", "hook-secret", "another-secret"),
  envs: fc.constantFrom<Record<string, string>>({}, { HOST_PORT: "3000" }, { OTHER: "1", HOST_PORT: "2999" })
})

const route = (name: string, host: string, target: string) =>
  plainFile
    .replace("  routers:\n", `  routers:\n    ${name}:\n      rule: "Host(\`${host}\`)"\n      service: ${name}\n`)
    .replace(
      "  services:\n",
      `  services:\n    ${name}:\n      loadBalancer:\n        servers:\n          - url: "http://${target}"\n`
    )

const world: fc.Arbitrary<MemoryWorld> = fc.record({
  entry,
  apps: fc.oneof(fc.constant([]), application.map((app) => [app])),
  hidden: fc.constantFrom<ReadonlyArray<string>>([], [], ["HOST_PORT"], ["manual_webhook_secret_githost"]),
  refused: fc.constantFrom<GitHostTestOptions>({}, {}, { failing: { hooks: 403 } }),
  hooks: fc.constantFrom<ReadonlyArray<{ readonly url: string; readonly active: boolean }>>(
    [],
    [{ url: hookUrl, active: true }],
    [{ url: "http://other.test", active: true }, { url: hookUrl, active: false }]
  ),
  secret: fc.constantFrom("hook-secret", "hook-secret", ""),
  proxy: fc.constantFrom(
    plainFile,
    route("shop", "shop.example.com", "192.168.1.20:3000"),
    route("shop", "old.example.com", "192.168.1.20:3000"),
    route("shop", "old.example.com", "192.168.1.99:9999"),
    "http:\n  routers: {}\n"
  )
}).map(({ apps, entry: declared, hidden, hooks, proxy, refused, secret }) => ({
  files: declaring(declared),
  platform: { applications: apps, hidden },
  gitHost: { repositories: { "ann/shop": hooks }, ...refused },
  settings: { "gitHost.webhookSecret": Redacted.make(secret) },
  proxy
}))

const reading = ["applications", "application", "envs", "servers", "webhookSecretSet", "hooks"]
const written = Effect.gen(function*() {
  const platform = (yield* Effect.flatten(PlatformCalls)).map(([operation]) => String(operation))
  const gitHost = (yield* (yield* GitHostCalls).asked).map(([operation]) => String(operation))
  return [...platform, ...gitHost].filter((operation) => !reading.includes(operation))
})

const holds = (isHeld: boolean) =>
  Effect.gen(function*() {
    const proxyBefore = yield* Effect.flatten(ProxyFileText)
    const { writes } = yield* decideUpsert(request)
    const first = yield* planUpsert(request)
    expect((yield* planUpsert(request)).planHash).toBe(first.planHash)
    expect(yield* written).toEqual([])

    const outcome = yield* Effect.either(
      isHeld
        ? Effect.flatMap(bindToPlan({ ...request, planHash: first.planHash }), (held) => upsertApp(request, held))
        : upsertApp(request)
    )
    expect(yield* written).toEqual(writes.filter((write) => write !== "proxyFile" && write !== "changelog"))
    expect((yield* Effect.flatten(ProxyFileText)) !== proxyBefore).toBe(writes.includes("proxyFile"))
    const stops = first.steps.find(({ detail }) => detail.startsWith("an upsert would stop here"))
    expect(stops?.step).toBe(outcome._tag === "Left" && "step" in outcome.left ? outcome.left.step : undefined)
    if (outcome._tag === "Left") return
    // The changelog tells of what was planned, but for what it never tells of.
    const told = outcome.right.changelogEntry.changes.filter(({ field }) => field !== "_action")
    for (const change of told) {
      expect(first.changes.find(({ field }) => field === change.field)?.new).toEqual(change.new)
    }
    const second = yield* planUpsert(request)
    // A new site is given another spelling of its directory than an update gives it.
    const isNewSite = first.changes.some(({ field, new: next }) => field === "publish_directory" && next === "/dist")
    const follows = ["platform.changelog.json", "deployment"]
    const left = second.changes.map(({ field }) => field).filter((field) => !isNewSite || !follows.includes(field))
    expect([second.action, left]).toEqual(
      isNewSite
        ? ["update", ["publish_directory"]]
        : ["none", []]
    )
  })

describe("a plan of any application", () => {
  it(
    "makes no call, tells the calls of the upsert, held to it or not, and is empty after it",
    { timeout: 60_000 },
    () =>
      fc.assert(
        fc.asyncProperty(
          world,
          fc.boolean(),
          (given, isHeld) => Effect.runPromise(Effect.provide(holds(isHeld), memoryWorld(given)))
        ),
        { numRuns: inPart(40, 8) }
      )
  )
})
