import { Effect, Either, FastCheck as fc } from "effect"
import { expect } from "vitest"
import { drift } from "../../../src/pipelines/drift.ts"
import { editProxyFile } from "../../../src/pipelines/routes/proxyFile.ts"
import { RouteEdit } from "../../../src/pipelines/routes/proxyText.ts"
import { readPlan } from "../../../src/pipelines/upsert/step.ts"
import { decideUpsert, upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { checkRoute } from "../../../src/pipelines/verify.ts"
import { differencesIn } from "../../../src/schema/upsert.ts"
import { GitHost } from "../../../src/services/githost.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"

/** The application that the histories are of. */
export const request = { projectPath: "/srv/shop" }

/** The repositories that an entry may name, as `owner/name`. */
export const repositories = ["ann/shop", "ann/store", "bob/shop", "bob/store"]

const fields = {
  name: fc.constantFrom("shop", "shop", "shop", "store"),
  buildpack: fc.constantFrom("autopack", "composestack", "imagefile"),
  branch: fc.constantFrom("master", "main"),
  baseDirectory: fc.constantFrom("/", "/web", "web"),
  composeLocation: fc.constantFrom("/compose.yml", "/deploy/compose.yml", "compose.yml"),
  static: fc.boolean(),
  publishDir: fc.constantFrom("dist", "/out"),
  port: fc.constantFrom(3000, 3001, 3002),
  domain: fc.constantFrom("shop.example.com", "store.example.com", "Blog.example.com"),
  server: fc.constantFrom("web", "main", "localhost", "here", "nowhere"),
  repo: fc.constantFrom("shop", "store"),
  gitOwner: fc.constantFrom("ann", "bob"),
  service: fc.constantFrom("web", "worker")
}

/** An entry of `platform.json`, each of its fields at random; every other one is served under a domain. */
export const entry = fc.oneof(
  fc.record(fields, { requiredKeys: ["name", "publishDir"] }),
  fc.record(fields, { requiredKeys: ["name", "publishDir", "buildpack", "port", "domain", "server"] })
)
  // Publish no directory of an application that is no site; creating it leaves the directory alone, and an update would write it.
  .map(({ publishDir, ...declared }) => ({ ...declared, ...(declared.static === true ? { publishDir } : {}) }))

const uuid = Effect.gen(function*() {
  const { name } = yield* readPlan(request)
  return (yield* (yield* Platform).applications).find((app) => app.name === name)?.uuid
})
/** A change of the declared application, where the platform has it. */
export const withApp = <A, E, R>(change: (uuid: string, platform: Platform["Type"]) => Effect.Effect<A, E, R>) =>
  // An invalid entry has no application; a refusal of the platform changes nothing.
  Effect.ignore(Effect.gen(function*() {
    const id = yield* uuid
    if (id !== undefined) yield* change(id, yield* Platform)
  }))
const withPort = (change: (uuid: string, platform: Platform["Type"], env: Env) => Effect.Effect<unknown, unknown>) =>
  withApp((id, platform) =>
    Effect.flatMap(platform.envs(id), (all) => {
      const env = all.find(({ key }) => key === "HOST_PORT")
      return env === undefined ? Effect.void : change(id, platform, env)
    })
  )
type Env = Effect.Effect.Success<ReturnType<Platform["Type"]["envs"]>>[number]
const rewritten = (edit: (text: string) => string) =>
  editProxyFile((text) => Either.right(RouteEdit.Edited({ change: "replaced", text: edit(text), warnings: [] })))

/** Changes that somebody makes on the platform, in the proxy file and on the git host. */
export const manual = {
  "another branch": withApp((id, platform) => platform.updateApplication(id, { git_branch: "elsewhere" })),
  "another build": withApp((id, platform) => platform.updateApplication(id, { build_pack: "imagefile" })),
  "other exposed ports": withApp((id, platform) => platform.updateApplication(id, { ports_exposes: "8080" })),
  "another address": withApp((id, platform) => platform.updateApplication(id, { fqdn: "https://else.example.com" })),
  "another port variable": withPort((id, platform, env) => platform.updateEnv(id, env, "4999")),
  "no port variable": withPort((id, platform, env) => platform.deleteEnv(id, env)),
  "another webhook secret": withApp((id, platform) =>
    platform.updateApplication(id, { manual_webhook_secret_githost: "another" })
  ),
  "no webhook": Effect.flatMap(GitHost, (gitHost) =>
    Effect.forEach(repositories, (repository) => {
      const [owner = "", name = ""] = repository.split("/")
      return Effect.flatMap(
        gitHost.hooks({ owner, name }),
        Effect.forEach((hook) => gitHost.deleteHook({ owner, name }, hook))
      )
    })),
  "a route that leads elsewhere": rewritten((text) =>
    text.replaceAll(/192\.168\.1\.[23]0:300\d/g, "192.168.1.20:4999")
  ),
  "a route for another domain": rewritten((text) => text.replaceAll(/(shop|store)\.example/g, "else.example")),
  "no route": rewritten((text) => text.replaceAll(/^ {4}(?:shop|shop-http):\n(?: {5,}.*\n)*/gm, "")),
  "no https router": rewritten((text) => text.replace(/^ {4}shop:\n {6}rule:.*\n(?: {5,}.*\n)*/m, ""))
} as const

/** Writes the entry of the project. */
export const declare = (declared: unknown) =>
  Effect.flatMap(
    LocalFiles,
    (files) => files.write("/srv/shop/platform.json", new TextEncoder().encode(JSON.stringify(declared)))
  )

const unset = new Set<unknown>([null, undefined, "(not set)"])
/** Differences by their label and what is there now, in an order that is the same for all. */
const inOrder = (all: ReadonlyArray<readonly [label: string, live: unknown]>) =>
  all.map(([label, live]) => `${label}: ${String(unset.has(live) ? "" : live)}`).toSorted()

/** Counts the differences; drift, plan and verify must agree on them. */
export const agreed = Effect.gen(function*() {
  const live = yield* drift(request)
  expect(live.unknown ?? []).toEqual([])
  const planned = Either.map(yield* Effect.either(decideUpsert(request)), (decided) => decided.plan)
  const count = differencesIn(live)
  if (Either.isLeft(planned)) {
    expect(live.exists && count === 0, planned.left.message).toBe(false)
    return count
  }
  const { action, changes, stays = [] } = planned.right
  expect(live.exists).toBe(action !== "create")
  if (!live.exists) return count
  expect([count === 0, live, planned.right]).toEqual([action === "none" && stays.length === 0, live, planned.right])
  const differing = changes.filter(({ target }) => target !== "deployment" && target !== "changelog")
  const { diffs, hook = [], others = [], routes = [] } = live
  expect(inOrder([...diffs, ...routes, ...hook, ...others].map(({ label, remote }) => [label, remote])))
    .toEqual(inOrder([
      ...differing.map(({ label, old }) => [label, old] as const),
      ...stays.map(({ label, live: now }) => [label, now] as const)
    ]))
  const way = yield* checkRoute(request.projectPath, yield* readPlan(request))
  const misses = routes.length > 0 || diffs.some(({ field }) => field === "domain")
  // An address that the platform still serves, and that is not declared there, is no hop of the way to a domain.
  expect(way.ok && way.warning === undefined ? routes.length === 0 : misses, JSON.stringify(way)).toBe(true)
  return count
})

/** Differences after an upsert: only those that an operator has to decide. */
const left = Effect.gen(function*() {
  const { diffs, hook = [], others = [], routes = [] } = yield* drift(request)
  expect(others).toEqual([])
  const undeclared = ["port", "buildpack"]
  expect(diffs.filter(({ field, local }) => !(undeclared.includes(field) && local === "") && field !== "domain"))
    .toEqual([])
  expect([...routes, ...hook].filter(({ remedy }) => remedy === undefined)).toEqual([])
})

type Step<M extends string> = { readonly declared: object } | { readonly manual: M } | "up"

/** Steps of a history at random, the manual ones by their names. */
export const steps = <M extends string>(names: ReadonlyArray<M>): fc.Arbitrary<ReadonlyArray<Step<M>>> =>
  fc.array(
    fc.oneof(
      fc.record({ declared: entry }),
      fc.record({ manual: fc.constantFrom(...names) }),
      fc.constant("up" as const)
    ),
    { minLength: 2, maxLength: 5 }
  )

/** Takes the steps of a history, and holds drift, plan and verify to each other after each of them. */
export const history = <M extends string, E, R>(
  manuals: (name: M) => Effect.Effect<unknown, E, R>,
  first: object,
  more: ReadonlyArray<Step<M>>
) =>
  Effect.gen(function*() {
    const all: ReadonlyArray<Step<M>> = [{ declared: first }, "up", ...more]
    for (const one of all) {
      if (one === "up") {
        const done = yield* Effect.either(upsertApp(request))
        if (Either.isRight(done)) yield* left
      } else yield* "declared" in one ? declare(one.declared) : manuals(one.manual)
      yield* agreed
    }
  })
