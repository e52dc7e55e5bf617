import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, FastCheck as fc, Option } from "effect"
import { drift } from "../../../src/pipelines/drift/drift.ts"
import { editProxyFile } from "../../../src/pipelines/routes/editProxyFile.ts"
import { RouteEdit } from "../../../src/pipelines/routes/RouteEdit.ts"
import { decide } from "../../../src/pipelines/upsert/plan/decide.ts"
import { readPlan } from "../../../src/pipelines/upsert/readPlan.ts"
import { upsertApp } from "../../../src/pipelines/upsert/upsertApp.ts"
import { route } from "../../../src/pipelines/verify/routeHop.ts"
import { differencesIn } from "../../../src/schema/Drift.ts"
import { GitHost } from "../../../src/services/githost/GitHost.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { declaring, memoryWorld } from "../../layers/memoryWorld.ts"
import { ProxyFileText } from "../../layers/ProxyFileTest.ts"

const request = { projectPath: "/srv/shop" }

const entry = fc.record({
  name: fc.constant("shop"),
  buildpack: fc.constantFrom("autopack", "composestack", "imagefile"),
  branch: fc.constantFrom("master", "main"),
  baseDirectory: fc.constantFrom("/", "/web"),
  composeLocation: fc.constantFrom("/compose.yml", "/deploy/compose.yml"),
  static: fc.boolean(),
  publishDir: fc.constantFrom("dist", "/out"),
  port: fc.constantFrom(3000, 3001, 3002),
  domain: fc.constantFrom("shop.example.com", "store.example.com", "blog.example.com"),
  server: fc.constantFrom("web", "main", "localhost", "nowhere"),
  repo: fc.constantFrom("shop", "store")
}, { requiredKeys: ["name", "buildpack", "publishDir"] })
  // Nothing is published of what is no site; creating it leaves the directory alone, and an update would write it.
  .map(({ publishDir, ...declared }) => ({ ...declared, ...(declared.static === true ? { publishDir } : {}) }))

const uuid = Effect.flatMap(Platform, ({ applications }) => Effect.map(applications, ([app]) => app?.uuid))
const withApp = <A, E, R>(change: (uuid: string, platform: Platform["Type"]) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const id = yield* uuid
    if (id !== undefined) yield* change(id, yield* Platform)
  })
const rewritten = (edit: (text: string) => string) =>
  editProxyFile((text) => Either.right(RouteEdit.Edited({ change: "replaced", text: edit(text), warnings: [] })))

/** Changes that somebody makes on the platform, in the proxy file and on the git host. */
const manual = {
  "another branch": withApp((id, platform) => platform.updateApplication(id, { git_branch: "elsewhere" })),
  "another build": withApp((id, platform) => platform.updateApplication(id, { build_pack: "imagefile" })),
  "other exposed ports": withApp((id, platform) => platform.updateApplication(id, { ports_exposes: "8080" })),
  "another address": withApp((id, platform) => platform.updateApplication(id, { fqdn: "https://else.example.com" })),
  "another port variable": withApp((id, platform) =>
    Effect.flatMap(platform.envs(id), ([env]) => env === undefined ? Effect.void : platform.updateEnv(id, env, "4999"))
  ),
  "no port variable": withApp((id, platform) =>
    Effect.flatMap(platform.envs(id), ([env]) => env === undefined ? Effect.void : platform.deleteEnv(id, env))
  ),
  "another webhook secret": withApp((id, platform) =>
    platform.updateApplication(id, { manual_webhook_secret_githost: "another" })
  ),
  "no webhook": Effect.flatMap(GitHost, (gitHost) =>
    Effect.forEach(["shop", "store"], (name) => {
      const repository = { owner: "ann", name }
      return Effect.flatMap(
        gitHost.hooks(repository),
        Effect.forEach((hook) => gitHost.deleteHook(repository, hook))
      )
    })),
  "a route that leads elsewhere": rewritten((text) =>
    text.replaceAll(/192\.168\.1\.[23]0:300\d/g, "192.168.1.20:4999")
  ),
  "a route for another domain": rewritten((text) => text.replaceAll(/(shop|store)\.example/g, "else.example")),
  "no route": rewritten((text) => text.replaceAll(/^ {4}(?:shop|shop-http):\n(?: {5,}.*\n)*/gm, "")),
  "no https router": rewritten((text) => text.replace(/^ {4}shop:\n {6}rule:.*\n(?: {5,}.*\n)*/m, ""))
} as const
type Manual = keyof typeof manual
const manuals = Object.keys(manual).filter((name): name is Manual => name in manual)

const declare = (declared: unknown) =>
  Effect.flatMap(
    LocalFiles,
    (files) => files.write("/srv/shop/platform.json", new TextEncoder().encode(JSON.stringify(declared)))
  )

/** How many differences there are: drift, a plan and the way to the domain agree that there are any. */
const agreed = Effect.gen(function*() {
  const live = yield* drift(request)
  expect(live.unknown ?? []).toEqual([])
  const planned = Either.map(yield* Effect.either(decide(request)), (decided) => decided.plan)
  const count = differencesIn(live)
  if (Either.isLeft(planned)) {
    expect(live.exists && count === 0, planned.left.message).toBe(false)
    return count
  }
  const { action, changes, stays = [] } = planned.right
  expect(live.exists).toBe(action !== "create")
  if (!live.exists) return count
  expect([count === 0, live, planned.right]).toEqual([action === "none" && stays.length === 0, live, planned.right])
  const told = changes.filter(({ target }) => target !== "deployment" && target !== "changelog")
  expect(count).toBe(told.length + stays.length)
  const way = yield* route(request.projectPath, yield* readPlan(request))
  const { routes = [] } = live
  const misses = routes.length > 0 || live.diffs.some(({ field }) => field === "domain")
  // An address that the platform still serves, and that is not declared there, is no hop of the way to a domain.
  expect(way.ok && way.warning === undefined ? routes.length === 0 : misses, JSON.stringify(way)).toBe(true)
  return count
})

/** What an upsert leaves: nothing that is declared but for what a person has to decide. */
const left = Effect.gen(function*() {
  const { diffs, hook = [], others = [], routes = [] } = yield* drift(request)
  expect([others, hook]).toEqual([[], []])
  expect(diffs.filter(({ field, local }) => !(field === "port" && local === "") && field !== "domain")).toEqual([])
  expect(routes.filter(({ remedy }) => remedy === undefined)).toEqual([])
})

type Step = { readonly declared: object } | { readonly manual: Manual } | "up"
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ declared: entry }),
  fc.record({ manual: fc.constantFrom(...manuals) }),
  fc.constant("up" as const)
)

const history = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function*() {
    for (const one of steps) {
      if (one === "up") {
        const done = yield* Effect.either(upsertApp(request))
        if (Either.isRight(done)) yield* left
      } else yield* "declared" in one ? declare(one.declared) : manual[one.manual]
      yield* agreed
    }
  })

const world = () =>
  memoryWorld({ files: declaring([]), gitHost: { repositories: { "ann/shop": [], "ann/store": [] } } })

describe("whether an application is as declared", () => {
  it("is one truth in drift, plan and verify, after any changes on either side", { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(
        entry,
        fc.array(step, { minLength: 2, maxLength: 5 }),
        (first, steps) => Effect.runPromise(Effect.provide(history([{ declared: first }, "up", ...steps]), world()))
      ),
      { numRuns: inPart(100, 5) }
    ))

  const whole = { name: "shop", buildpack: "autopack", port: 3000, domain: "shop.example.com" }
  const changes: ReadonlyArray<object> = [
    { port: 3001 },
    { domain: "store.example.com" },
    { branch: "main" },
    { buildpack: "imagefile" },
    { buildpack: "composestack" },
    { baseDirectory: "/web" },
    { static: true, publishDir: "/out" },
    { server: "web" },
    { repo: "store" }
  ]
  it.effect.each(changes)(
    "is so after an upsert, not after a declared change of %j, and so again after another",
    (more) =>
      Effect.gen(function*() {
        yield* declare(whole)
        yield* upsertApp(request)
        expect(yield* agreed).toBe(0)
        yield* declare({ ...whole, ...more })
        expect(yield* agreed).toBeGreaterThan(0)
        yield* upsertApp(request)
        expect(yield* agreed).toBe(0)
      }).pipe(Effect.provide(world()))
  )

  it.effect.each(manuals)("is not so after %s, and so again after an upsert", (name) =>
    Effect.gen(function*() {
      yield* declare(whole)
      yield* upsertApp(request)
      yield* manual[name]
      expect(yield* agreed).toBeGreaterThan(0)
      yield* upsertApp(request)
      expect(yield* agreed).toBe(0)
    }).pipe(Effect.provide(world())))

  it.effect("is not so while the route of a domain is there that no entry declares any more", () =>
    Effect.gen(function*() {
      yield* declare(whole)
      yield* upsertApp(request)
      yield* declare({ name: "shop", buildpack: "autopack", port: 3000 })
      yield* upsertApp(request)
      expect(yield* agreed).toBe(1)
      expect((yield* drift(request)).routes).toEqual([{
        field: "route",
        label: "Proxy route",
        local: null,
        remote: "shop.example.com to http://192.168.1.20:3000",
        remedy: "No entry declares this domain any more: remove the route shop"
      }])
      expect(yield* yield* ProxyFileText).toContain("shop.example.com")
      yield* manual["no route"]
      expect(yield* agreed).toBe(0)
      expect(Option.isSome(Option.fromNullable(yield* uuid))).toBe(true)
    }).pipe(Effect.provide(world())))
})
