import { describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { expect } from "vitest"
import { upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { HttpFault } from "../../../src/sandbox/httpDouble.ts"
import { ProxyFileText } from "../../../src/testing/SshTest.ts"
import { declaring } from "../../layers/worlds/memoryWorld.ts"
import { sent, type WireWorld, wireWorld } from "../../layers/worlds/wireWorld.ts"
import { plainFile } from "../routes/proxyFiles.ts"

const request = { projectPath: "/srv/shop" }
const gitUrl = "git@git.test:2004/ann/shop.git"
const hookUrl = "https://platform.test/webhooks/source/githost/events/manual"
const hooksPath = "/api/v1/repos/ann/shop/hooks"
const live = { uuid: "app-1", name: "shop", git_repository: gitUrl, publish_directory: "/" }

type Call = string | readonly [line: string, body: unknown]

interface Case {
  readonly says: string
  readonly entry: object
  readonly world?: WireWorld
  /** Calls of the platform; `{uuid}` is the application's. */
  readonly platform: ReadonlyArray<Call>
  readonly gitHost?: ReadonlyArray<Call>
  readonly fails?: string
}

const created = {
  project_uuid: "project-sandbox",
  server_uuid: "server-main",
  environment_name: "production",
  name: "shop",
  git_repository: gitUrl,
  git_branch: "master",
  build_pack: "autopack",
  ports_exposes: "3000",
  instant_deploy: false,
  private_key_uuid: "key-sandbox",
  base_directory: "/"
}
const updated = {
  build_pack: "autopack",
  git_repository: gitUrl,
  git_branch: "master",
  base_directory: "/",
  is_static: false,
  publish_directory: "/",
  ports_exposes: "3000"
}
const app = "/applications/{uuid}"
const port = (value: string) => ({ key: "HOST_PORT", value, is_preview: false })
const deploy = "GET /deploy?uuid={uuid}&force=true"
const secret: Call = [`PATCH ${app}`, { manual_webhook_secret_githost: "hook-secret" }]
const newHook: ReadonlyArray<Call> = [
  `GET ${hooksPath}`,
  [`POST ${hooksPath}`, {
    type: "githost",
    active: true,
    config: { url: hookUrl, content_type: "json", secret: "hook-secret" },
    events: ["push"]
  }]
]
const hookChange = { config: { content_type: "json", secret: "hook-secret" }, active: true }
const update = (
  fields: object = updated
): ReadonlyArray<Call> => ["GET /applications", `GET ${app}`, [`PATCH ${app}`, fields]]
const create = (fields: object = {}): ReadonlyArray<Call> => [
  "GET /applications",
  ["POST /applications/private-deploy-key", { ...created, ...fields }]
]
const cleared: Call = [`PATCH ${app}`, { domains: "" }]
const answer = (status: number, message = "not today") => HttpFault.Answer({ reply: { status, body: { message } } })
const withApp = (envs?: Readonly<Record<string, string>>, given: object = {}): WireWorld => ({
  platform: { applications: [{ ...live, ...given, ...(envs === undefined ? {} : { envs }) }] }
})

const cases: ReadonlyArray<Case> = [
  {
    says: "creates a compose stack",
    entry: { name: "shop", buildpack: "composestack", port: 3000 },
    platform: [
      ...create({ build_pack: "composestack", compose_location: "/compose.yml" }),
      `GET ${app}/envs`,
      [`POST ${app}/envs`, port("3000")],
      deploy,
      secret
    ]
  },
  {
    says: "creates a static site",
    entry: { name: "shop", static: true, branch: "main", baseDirectory: "/web" },
    platform: [
      ...create({ git_branch: "main", base_directory: "/web", is_static: true, publish_directory: "dist" }),
      [`PATCH ${app}`, { is_static: true, publish_directory: "/dist", domains: "" }],
      deploy,
      secret
    ]
  },
  {
    says: "updates without changes",
    entry: { name: "shop", port: 3000 },
    world: withApp({ HOST_PORT: "3000" }),
    platform: [...update(), `GET ${app}/envs`, deploy, secret]
  },
  {
    says: "updates every field",
    entry: {
      name: "shop",
      repo: "store",
      gitOwner: "bob",
      branch: "main",
      baseDirectory: "/web",
      static: true,
      publishDir: "out"
    },
    world: { ...withApp(undefined, { build_pack: "imagefile" }), gitHost: { repositories: { "bob/store": [] } } },
    platform: [
      ...update({
        ...updated,
        git_repository: "git@git.test:2004/bob/store.git",
        git_branch: "main",
        base_directory: "/web",
        is_static: true,
        publish_directory: "out"
      }),
      deploy,
      secret
    ],
    gitHost: newHook.map((call): Call =>
      typeof call === "string"
        ? call.replace("ann/shop", "bob/store")
        : [call[0].replace("ann/shop", "bob/store"), call[1]]
    )
  },
  {
    says: "updates a compose stack",
    entry: { name: "shop", buildpack: "composestack", composeLocation: "/deploy/a.yml" },
    world: withApp(),
    platform: [
      ...update({ ...updated, build_pack: "composestack", compose_location: "/deploy/a.yml" }),
      deploy,
      secret
    ]
  },
  {
    says: "adds a variable that is absent",
    entry: { name: "shop", port: 3000 },
    world: withApp({ OTHER: "1" }),
    platform: [...update(), `GET ${app}/envs`, [`POST ${app}/envs`, port("3000")], deploy, secret]
  },
  {
    says: "changes a variable that differs",
    entry: { name: "shop", port: 3000 },
    world: withApp({ OTHER: "1", HOST_PORT: "2999" }),
    platform: [...update(), `GET ${app}/envs`, [`PATCH ${app}/envs/3`, port("3000")], deploy, secret]
  },
  {
    says: "makes a variable anew that cannot be changed",
    entry: { name: "shop", port: 3000 },
    world: {
      ...withApp({ HOST_PORT: "2999" }),
      faults: [{ of: "platform", call: { method: "PATCH", path: /envs/ }, fault: answer(405) }]
    },
    platform: [
      ...update(),
      `GET ${app}/envs`,
      [`PATCH ${app}/envs/2`, port("3000")],
      `DELETE ${app}/envs/2`,
      [`POST ${app}/envs`, port("3000")],
      deploy,
      secret
    ]
  },
  {
    says: "takes variables that cannot be read for absent ones",
    entry: { name: "shop", port: 3000 },
    world: { ...withApp(), faults: [{ of: "platform", call: { path: /envs/, method: "GET" }, fault: answer(403) }] },
    platform: [...update(), `GET ${app}/envs`, [`POST ${app}/envs`, port("3000")], deploy, secret]
  },
  {
    says: "lets the platform serve what runs on its own host, found by its address",
    entry: { name: "shop", port: 3000, domain: "shop.example.com", server: "here" },
    platform: [
      "GET /servers",
      ...create({ server_uuid: "server-here" }),
      cleared,
      `GET ${app}/envs`,
      [`POST ${app}/envs`, port("3000")],
      [`PATCH ${app}`, { fqdn: "https://shop.example.com" }],
      deploy,
      secret
    ]
  },
  {
    says: "lets the platform serve what runs on its own host, found by its name",
    entry: { name: "shop", domain: "shop.example.com", server: "localhost" },
    world: withApp(),
    platform: ["GET /servers", ...update(), [`PATCH ${app}`, { fqdn: "https://shop.example.com" }], deploy, secret]
  },
  {
    says: "routes to a named server",
    entry: { name: "shop", port: 3000, domain: "shop.example.com", server: "web" },
    world: withApp({ HOST_PORT: "3000" }),
    platform: ["GET /servers", ...update(), `GET ${app}/envs`, cleared, deploy, secret]
  },
  {
    says: "routes to the default server",
    entry: { name: "shop", port: 3000, domain: "shop.example.com" },
    world: withApp({ HOST_PORT: "3000" }),
    platform: [...update(), `GET ${app}/envs`, cleared, deploy, secret]
  },
  {
    says: "goes on when the domains cannot be cleared",
    entry: { name: "shop", port: 3000, domain: "shop.example.com" },
    world: {
      ...withApp({ HOST_PORT: "3000" }),
      // The first PATCH is the update itself.
      faults: [{ of: "platform", call: { method: "PATCH" }, fault: HttpFault.Delay({ duration: Duration.zero }) }, {
        of: "platform",
        call: { method: "PATCH" },
        fault: answer(422)
      }]
    },
    platform: [...update(), `GET ${app}/envs`, cleared, deploy, secret]
  },
  {
    says: "leaves the domains of a compose stack alone",
    entry: { name: "shop", port: 3000, domain: "shop.example.com", buildpack: "composestack" },
    world: withApp({ HOST_PORT: "3000" }, { build_pack: "composestack", compose_location: "/compose.yml" }),
    platform: [
      ...update({ ...updated, build_pack: "composestack", compose_location: "/compose.yml" }),
      `GET ${app}/envs`,
      deploy,
      secret
    ]
  },
  {
    says: "finds the route there",
    entry: { name: "shop", port: 2010, domain: "blog.example.com" },
    world: withApp({ HOST_PORT: "2010" }),
    platform: [...update(), `GET ${app}/envs`, cleared, deploy, secret]
  },
  {
    says: "stops at a proxy file without its sections",
    entry: { name: "shop", port: 3000, domain: "shop.example.com" },
    world: { ...withApp({ HOST_PORT: "3000" }), proxy: "http:\n  middlewares:\n    a:\n      stripPrefix: {}\n" },
    platform: [...update(), `GET ${app}/envs`, cleared],
    gitHost: [],
    fails: "The proxy file /etc/proxy/dynamic.yml on \"Main\" was left as it is"
  },
  {
    says: "stops at an unknown server",
    entry: { name: "shop", server: "nowhere" },
    platform: ["GET /servers"],
    gitHost: [],
    fails: "The platform has no server \"nowhere\": there is \"main\", \"web\", \"here\", \"localhost\""
  },
  {
    says: "updates the hook that is there",
    entry: { name: "shop" },
    world: {
      ...withApp(),
      gitHost: { repositories: { "ann/shop": [{ url: "https://other.test" }, { url: hookUrl, active: false }] } }
    },
    platform: [...update(), deploy, secret],
    gitHost: [`GET ${hooksPath}`, [`PATCH ${hooksPath}/2`, hookChange]]
  },
  {
    says: "goes on when the hooks cannot be read",
    entry: { name: "shop" },
    world: { ...withApp(), gitHost: { repositories: {} } },
    platform: [...update(), deploy, secret],
    gitHost: [`GET ${hooksPath}`]
  },
  {
    says: "does not touch the git host when the platform refuses the secret",
    entry: { name: "shop" },
    world: {
      ...withApp(),
      faults: [{ of: "platform", call: { method: "PATCH" }, fault: HttpFault.Delay({ duration: Duration.zero }) }, {
        of: "platform",
        call: { method: "PATCH" },
        fault: answer(403)
      }]
    },
    platform: [...update(), deploy, secret],
    gitHost: []
  },
  {
    says: "repeats no deployment that was refused",
    entry: { name: "shop" },
    world: { ...withApp(), faults: [{ of: "platform", call: { path: "/deploy" }, fault: answer(503, "busy") }] },
    platform: [...update(), deploy],
    gitHost: [],
    fails: "Platform API 503: busy (upsert stopped at deploy)"
  },
  {
    says: "repeats no creation whose answer was lost",
    entry: { name: "shop" },
    world: { faults: [{ of: "platform", call: { method: "POST" }, fault: HttpFault.Reset() }] },
    platform: create(),
    gitHost: [],
    fails: "(upsert stopped at sync)"
  }
]

/** The application's own id instead of the name it has in the case. */
const expected = (calls: ReadonlyArray<Call>, uuid: string) =>
  calls.map((call): Call =>
    typeof call === "string" ? call.replace("{uuid}", uuid) : [call[0].replace("{uuid}", uuid), call[1]]
  )

describe("the calls of an upsert", () => {
  it.live.each(cases)("$says", ({ entry, fails, gitHost = newHook, platform, world }) =>
    Effect.gen(function*() {
      const outcome = yield* Effect.either(upsertApp(request))
      const calls = yield* sent
      const uuid = outcome._tag === "Right" ? outcome.right.uuid : live.uuid
      expect(calls.platform).toEqual(expected(platform, uuid))
      expect(calls.gitHost).toEqual(gitHost)
      expect(outcome._tag === "Left" ? outcome.left.message : "").toContain(fails ?? "")
      expect(outcome._tag).toBe(fails === undefined ? "Right" : "Left")
    }).pipe(Effect.provide(wireWorld({ files: declaring(entry), ...world }))))

  it.live("sends no webhook when there is no secret for it", () =>
    Effect.gen(function*() {
      const { steps } = yield* upsertApp(request)
      expect(steps.at(-1)?.status).toBe("skipped")
      const calls = yield* sent
      expect(calls.gitHost).toEqual([])
      expect(calls.platform.at(-1)).toBe("GET /deploy?uuid=app-1&force=true")
    }).pipe(Effect.provide(wireWorld({
      files: declaring({ name: "shop" }),
      ...withApp(),
      without: ["gitHost.webhookSecret"]
    }))))

  it.live("writes the route of an application that it creates", () =>
    Effect.gen(function*() {
      yield* upsertApp(request)
      const text = yield* Effect.flatten(ProxyFileText)
      expect(text).toContain("http://192.168.1.30:3000")
      expect(text.length).toBeGreaterThan(plainFile.length)
    }).pipe(Effect.provide(wireWorld({
      files: declaring({ name: "shop", port: 3000, domain: "shop.example.com", server: "web" })
    }))))
})
