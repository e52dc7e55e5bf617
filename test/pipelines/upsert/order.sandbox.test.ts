import { describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { expect } from "vitest"
import { upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { type CallPattern, HttpFault } from "../../../src/sandbox/httpDouble.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { ProxyFileText } from "../../../src/testing/SshTest.ts"
import { declaring } from "../../layers/worlds/memoryWorld.ts"
import { Vendors, type VendorWorld, vendorWorld } from "../../layers/worlds/vendorWorld.ts"
import { shown } from "../../layers/worlds/wireWorld.ts"

const request = { projectPath: "/srv/shop" }
const gitUrl = "git@git.test:2004/ann/shop.git"
const live = (envs: Readonly<Record<string, string>>) => ({
  name: "shop",
  uuid: "{uuid}",
  git_repository: gitUrl,
  envs
})
const app = "/api/v1/applications/{uuid}"
const hooks = "/api/v1/repos/ann/shop/hooks"
const hookUrl = "https://platform.test/webhooks/source/gitea/events/manual"

/** The calls as `GET /path`, with the names of the fields that a PATCH of the application changes. */
const lines = Effect.gen(function*() {
  const { gitHost, platform } = yield* Vendors
  const calls = [...yield* platform.calls, ...yield* gitHost.calls].map((call) => {
    const line = shown(call)
    const [text = "", body] = typeof line === "string" ? [line] : line
    const fields = /^PATCH .*applications\/[^/]+$/.test(String(text)) ? ` ${Object.keys(Object(body)).join()}` : ""
    return `${text}${fields}`
  })
  return calls.map((line) => line.replace(/(applications\/|uuid=)(?!private-deploy-key)[^/&\s]+/, "$1{uuid}"))
})

const check = ["GET /api/v1/applications"]
const created = [...check, "POST /api/v1/applications/private-deploy-key"]
const build = "build_pack,git_repository,git_branch,base_directory,is_static,publish_directory,ports_exposes"
const updated = [...check, `GET ${app}`, `PATCH ${app} ${build}`]
const deployed = ["POST /api/v1/deploy?uuid={uuid}&force=true", `PATCH ${app} manual_webhook_secret_gitea`]
const hooked = [`GET ${hooks}?limit=50&page=1`, `POST ${hooks}`]

interface Case {
  readonly says: string
  readonly entry: object
  readonly world?: VendorWorld
  readonly calls: ReadonlyArray<string>
}

// The neutral profile's calls, with their bodies, are in outbound.test.ts.
const cases: ReadonlyArray<Case> = [
  {
    says: "creates an application behind the proxy",
    entry: { name: "shop", port: 3000, domain: "shop.example.com", server: "web" },
    calls: [
      "GET /api/v1/servers",
      ...created,
      `GET ${app}`,
      `PATCH ${app} domains`,
      `GET ${app}/envs`,
      `POST ${app}/envs`,
      `PATCH ${app} domains`,
      ...deployed,
      ...hooked
    ]
  },
  {
    says: "creates a compose stack that the platform serves",
    entry: {
      name: "shop",
      buildpack: "composestack",
      port: 3000,
      domain: "shop.example.com",
      server: "here",
      service: "web"
    },
    calls: [
      "GET /api/v1/servers",
      ...created,
      `GET ${app}/envs`,
      `POST ${app}/envs`,
      // The creation has brought the address, which is read back.
      `GET ${app}`,
      ...deployed,
      ...hooked
    ]
  },
  {
    says: "updates an application and its port behind the proxy",
    entry: { name: "shop", port: 3000, domain: "shop.example.com" },
    world: { apps: [live({ HOST_PORT: "2999" })] },
    calls: [
      ...updated,
      `GET ${app}/envs`,
      `PATCH ${app}/envs`,
      `PATCH ${app} domains`,
      ...deployed,
      ...hooked
    ]
  },
  {
    says: "updates a compose stack, and puts a new hook in place of the old one",
    entry: { name: "shop", buildpack: "composestack", port: 3000 },
    world: {
      apps: [live({ HOST_PORT: "3000" })],
      gitHost: { repositories: { "ann/shop": [{ url: hookUrl, active: false }] } }
    },
    calls: [
      ...check,
      `GET ${app}`,
      `PATCH ${app} ${build},docker_compose_location`,
      `GET ${app}/envs`,
      ...deployed,
      `GET ${hooks}?limit=50&page=1`,
      `GET ${hooks}?limit=50&page=2`,
      `POST ${hooks}`,
      `DELETE ${hooks}/1`
    ]
  }
]

describe("the calls of an upsert on a Coolify and a Gitea", () => {
  it.live.each(cases)("$says", ({ calls, entry, world }) =>
    Effect.gen(function*() {
      yield* upsertApp(request)
      expect(yield* lines).toEqual(calls)
    }).pipe(Effect.provide(vendorWorld("coolify and gitea", { files: declaring(entry), ...world }))))
})

const entry = { name: "shop", port: 3000, domain: "shop.example.com" }
/** Obstacle for each step. Earlier steps have left their marks then, later ones none. */
interface StepFailure {
  readonly step: string
  readonly pattern?: CallPattern
  readonly world?: VendorWorld
}
const failures: ReadonlyArray<StepFailure> = [
  { step: "sync", pattern: { method: "POST", path: /private-deploy-key$/ } },
  { step: "env", pattern: { method: "POST", path: /\/envs$/ } },
  { step: "route", world: { proxy: "http:\n  routers: {}\n" } },
  { step: "changelog", world: { files: { "/srv/shop/platform.changelog.json": { directory: true } } } },
  { step: "deploy", pattern: { path: /\/deploy$/ } },
  { step: "webhook", pattern: { method: "GET", path: /\/hooks$/ } }
]
const marks = ["sync", "env", "route", "changelog", "deploy", "webhook"]

/** Steps that have left their mark. */
const marked = Effect.gen(function*() {
  const files = yield* LocalFiles
  const made = yield* lines
  const changelog = yield* files.find("/srv/shop/platform.changelog.json")
  const left = {
    sync: made.some((line) => line.startsWith("POST") && line.endsWith("/private-deploy-key")),
    env: made.some((line) => /^POST .*\/envs$/.test(line)),
    route: (yield* Effect.flatten(ProxyFileText)).includes("shop.example.com"),
    changelog: Option.exists(changelog, ({ kind }) => kind === "file"),
    deploy: made.some((line) => /\/deploy\?/.test(line)),
    webhook: made.some((line) => /manual_webhook_secret|\/hooks/.test(line))
  }
  return Object.entries(left).flatMap(([step, there]) => (there ? [step] : []))
})

describe.each(["neutral", "coolify and gitea"] as const)("the steps of an upsert (%s)", (vendor) => {
  it.live.each(failures)(
    "come after each other: what fails at $step ends it there",
    ({ pattern, step, world }) =>
      Effect.gen(function*() {
        const { gitHost, platform } = yield* Vendors
        const fault = HttpFault.Answer({ reply: { status: 422, body: { message: "not today" } } })
        const double = step === "webhook" ? gitHost : platform
        if (pattern !== undefined) yield* double.fail(pattern, fault)
        const outcome = yield* Effect.either(upsertApp(request))
        const before = marks.slice(0, marks.indexOf(step))
        // A call that was refused has been made, and a warning is all that a webhook's failure is.
        expect(yield* marked).toEqual(pattern === undefined ? before : [...before, step])
        expect(outcome._tag === "Left" ? outcome.left.step : "webhook").toBe(step)
      }).pipe(Effect.provide(vendorWorld(vendor, { ...world, files: { ...declaring(entry), ...world?.files } })))
  )
})
