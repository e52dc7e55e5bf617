import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { request as rawRequest } from "node:http"
import { type GitHostSeed, makeGitHostDouble } from "../../src/sandbox/gitHost.ts"
import { HttpFault } from "../../src/sandbox/httpDouble.ts"
import { makePlatformDouble } from "../../src/sandbox/platform.ts"
import type { PlatformSeed } from "../../src/sandbox/records.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { shared } from "../fixtures/shared.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const applications = [
  { uuid: "a1", name: "shop", git_repository: "git@git.test:2004/ann/shop.git", envs: { HOST_PORT: "3000", A: "1" } },
  { uuid: "a2", name: "blog/ü" }
]

/** The whole service with a platform and a git host beside it. */
const service = (
  seed: { readonly platform?: PlatformSeed; readonly gitHost?: GitHostSeed; readonly more?: string } = {}
) =>
  Effect.gen(function*() {
    const platform = yield* makePlatformDouble({
      token: Redacted.make("platform-token"),
      seed: { applications, ...seed.platform }
    })
    const gitHost = yield* makeGitHostDouble({
      token: Redacted.make("git-token"),
      seed: { repositories: { "ann/shop": [] }, ...seed.gitHost }
    })
    const file = yield* settingsFileWith(`token: git-token
platform:
  url: ${platform.url}/
  token: platform-token
  projectUuid: project-sandbox
  defaultServerUuid: server-local
  privateKeyUuid: key-sandbox
  timeout: 1 second
gitHost:
  url: ${gitHost.url}
  sshHost: git.test
  owner: ann
${seed.more ?? "  webhookSecret: hook-secret"}
`)
    return { ...yield* startService(file), platform, gitHost }
  })

/** Sends a path exactly as it is: fetch would resolve its dots. */
const exactly = (port: number, method: string, path: string) =>
  Effect.async<{ readonly status: number; readonly text: string }>((resume) => {
    const sent = rawRequest({ host: "127.0.0.1", port, method, path, headers: { "content-type": "application/json" } })
    sent.on("response", (response) => {
      let text = ""
      response.on("data", (chunk: Buffer) => (text += chunk.toString()))
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, text })))
    })
    sent.end("{}")
  })

/** The same for all tests that leave it as it is. */
const sharedService = () =>
  Effect.tap(shared(service()), ({ platform }) => Effect.zipRight(platform.forgetCalls, platform.healed))

const answering = (status: number, body?: unknown) =>
  HttpFault.Answer({ reply: body === undefined ? { status } : { status, body } })

describe("platform applications", () => {
  const untouched = sharedService()

  it.scopedLive("are listed with their ports and variables", () =>
    Effect.gen(function*() {
      const { request } = yield* untouched
      const { body, status } = yield* request("GET", "/api/platform/apps")
      expect(status).toBe(200)
      expect(body).toMatchObject([
        { uuid: "a1", _host_port: "3000", _envs: [{ key: "HOST_PORT", is_preview: false }, { key: "A" }] },
        { uuid: "a2", _host_port: null, _envs: [] }
      ])
    }))

  it.scopedLive("are found by their exact name", () =>
    Effect.gen(function*() {
      const { request } = yield* untouched
      expect((yield* request("GET", "/api/platform/apps/find/shop")).body).toMatchObject({
        uuid: "a1",
        status: "running:healthy"
      })
      expect((yield* request("GET", `/api/platform/apps/find/${encodeURIComponent("blog/ü")}`)).body)
        .toMatchObject({ uuid: "a2" })
      expect(yield* request("GET", "/api/platform/apps/find/Shop")).toMatchObject({ status: 200, text: "null" })
    }))

  it.scopedLive("are created by the rules, and the answer is handed on", () =>
    Effect.gen(function*() {
      const { platform, request } = yield* service()
      const { body, status } = yield* request("POST", "/api/platform/apps", {
        name: "new",
        gitRepo: "git@git.test:n.git"
      })
      expect([status, body]).toMatchObject([200, { name: "new", build_pack: "autopack", description: null }])
      const [call] = yield* platform.calls
      expect([call?.path, call?.body]).toEqual(["/applications/private-deploy-key", {
        project_uuid: "project-sandbox",
        server_uuid: "server-local",
        environment_name: "production",
        name: "new",
        git_repository: "git@git.test:n.git",
        git_branch: "master",
        build_pack: "autopack",
        ports_exposes: "3000",
        instant_deploy: false,
        private_key_uuid: "key-sandbox",
        base_directory: "/"
      }])
    }))

  it.scopedLive.each<[unknown, string]>([
    [{ gitRepo: "x" }, "name"],
    [{ name: "a" }, "gitRepo"],
    [{ name: "a", gitRepo: "x", buildpack: "nixpacks" }, "buildpack"],
    [{ name: "a", gitRepo: "x", isStatic: "yes" }, "isStatic"],
    [undefined, "body"]
  ])("are not created from %j", ([payload, named]) =>
    Effect.gen(function*() {
      const { platform, request } = yield* untouched
      const { body, status } = yield* request("POST", "/api/platform/apps", payload)
      expect([status, body]).toEqual([400, { error: expect.stringContaining(named) }])
      expect(yield* platform.calls).toEqual([])
    }))

  it.scopedLive("are changed by any JSON object, handed on as it is", () =>
    Effect.gen(function*() {
      const { platform, request } = yield* service()
      yield* platform.fail({ method: "PATCH" }, answering(201, { ok: [1, { deep: null }], __proto__x: 1 }))
      const text = "{\"z\":1,\"a\":{\"b\":[null]},\"__proto__\":{\"c\":2},\"name\":null}"
      const reply = yield* request("PATCH", "/api/platform/apps/a1", text)
      expect([reply.status, reply.text]).toEqual([200, "{\"ok\":[1,{\"deep\":null}],\"__proto__x\":1}"])
      expect(JSON.stringify((yield* platform.calls)[0]?.body)).toBe(text)
    }))

  it.scopedLive.each(["[]", "3", "\"a\"", "null"])("are not changed by %s", (text) =>
    Effect.gen(function*() {
      const { platform, request } = yield* untouched
      expect((yield* request("PATCH", "/api/platform/apps/a1", text)).status).toBe(400)
      expect(yield* platform.calls).toEqual([])
    }))

  it.scopedLive("are deleted and deployed", () =>
    Effect.gen(function*() {
      const { platform, request } = yield* service()
      expect((yield* request("POST", "/api/platform/apps/a1/deploy")).body).toMatchObject({ deployments: [{}] })
      yield* platform.fail({ method: "DELETE" }, answering(204))
      expect(yield* request("DELETE", "/api/platform/apps/a1")).toMatchObject({ status: 200, text: "null" })
      expect((yield* platform.calls).map(({ method, path, query }) => [method, path, query])).toEqual([
        ["GET", "/deploy", { uuid: "a1", force: "true" }],
        ["DELETE", "/applications/a1", {}]
      ])
    }))

  it.scopedLive("have variables that are listed and created", () =>
    Effect.gen(function*() {
      const { platform, request } = yield* service()
      const extra = { id: 5, key: "K", value: null, is_preview: true, weird: [{}] }
      yield* platform.fail({ method: "GET", path: "/applications/a1/envs" }, answering(200, [extra]))
      expect((yield* request("GET", "/api/platform/apps/a1/envs")).text).toBe(JSON.stringify([extra]))
      yield* request("POST", "/api/platform/apps/a1/envs", { key: "B", value: "" })
      expect((yield* platform.calls).at(-1)?.body).toEqual({ key: "B", value: "", is_preview: false })
      for (const payload of [{ key: "B" }, { value: "b" }, { key: "", value: "b" }, { key: "B", value: 1 }]) {
        expect((yield* request("POST", "/api/platform/apps/a1/envs", payload)).status).toBe(400)
      }
    }))

  it.scopedLive("run on servers that are listed", () =>
    Effect.gen(function*() {
      const { request } = yield* untouched
      expect((yield* request("GET", "/api/platform/servers")).body).toEqual([
        { uuid: "server-local", name: "localhost", ip: "host.docker.internal" }
      ])
    }))

  it.scopedLive.each<unknown>([
    [null, { z: [{ a: 1 }], a: 2 }, { uuid: 17, ip: [], "1": { z: 0, a: 0 } }],
    { data: [] },
    "soon",
    null
  ])("hand on what the platform answers, even %j", (body) =>
    Effect.gen(function*() {
      const { platform, request } = yield* untouched
      yield* platform.fail({}, answering(200, body), { times: 2 })
      for (const path of ["/api/platform/servers", "/api/platform/apps/a1/envs"]) {
        const { status, text } = yield* request("GET", path)
        expect([status, text]).toEqual([200, JSON.stringify(body)])
      }
    }))

  it.scopedLive("are handed on with fields of any kind, in the order they have", () =>
    Effect.gen(function*() {
      const { platform, request } = yield* untouched
      const odd = { status: [], fqdn: 17, uuid: "a3", is_static: 1, z: { deep: [null] } }
      yield* platform.fail({ path: "/applications" }, answering(200, [odd, { ...odd, name: "odd" }]), { times: 2 })
      expect((yield* request("GET", "/api/platform/apps/find/odd")).text).toBe(JSON.stringify({ ...odd, name: "odd" }))
      const { status, text } = yield* request("GET", "/api/platform/apps")
      const added = { _host_port: null, _envs: [] }
      expect([status, text]).toEqual([200, JSON.stringify([{ ...odd, ...added }, { ...odd, name: "odd", ...added }])])
    }))

  it.scopedLive.each<[string, string]>([
    ["..%2F..%2Fx", "/applications/..%2F..%2Fx"],
    ["a1%3Fforce=1", "/applications/a1%3Fforce%3D1"],
    ["a1%23", "/applications/a1%23"],
    ["a%20b%5C", "/applications/a%20b%5C"]
  ])("reach the platform under %s as one segment", ([uuid, path]) =>
    Effect.gen(function*() {
      const { platform, port } = yield* untouched
      const { status, text } = yield* exactly(port, "PATCH", `/api/platform/apps/${uuid}`)
      expect([status, text]).toEqual([404, "{\"error\":\"Platform API 404: Application not found.\"}"])
      expect((yield* platform.calls).map((call) => [call.method, call.path])).toEqual([["PATCH", path]])
    }))

  it.scopedLive.each(["..", ".", "%2e%2e", "%2E", ""])(
    "do not reach the platform under %j",
    (uuid) =>
      Effect.gen(function*() {
        const { platform, port } = yield* untouched
        const { status } = yield* exactly(port, "DELETE", `/api/platform/apps/${uuid}`)
        expect([400, 404, 405]).toContain(status)
        expect(yield* platform.calls).toEqual([])
      })
  )
})

describe("a platform that fails", () => {
  const untouched = sharedService()

  it.scopedLive.each<[string, HttpFault, number, number, string]>([
    ["404", answering(404, { message: "Nope." }), 1, 404, "Platform API 404: Nope."],
    ["409", answering(409, { error: "Taken." }), 1, 409, "Platform API 409: Taken."],
    [
      "422",
      answering(422, { message: "Validation failed.", errors: { fqdn: ["Not allowed."] } }),
      1,
      422,
      "Platform API 422: Validation failed. (fqdn: Not allowed.)"
    ],
    ["401", answering(401, { message: "Unauthenticated." }), 1, 502, "Platform API 401: Unauthenticated."],
    ["403", answering(403, { message: "Forbidden." }), 1, 502, "Platform API 403: Forbidden."],
    ["500", answering(500, { message: "Server Error" }), 3, 502, "Platform API 500: Server Error"],
    ["an HTML page", HttpFault.Html({ status: 200 }), 1, 502, "that is not valid JSON"],
    ["an HTML error", HttpFault.Html({ status: 502 }), 3, 502, "Platform API 502: "],
    ["half an answer", HttpFault.HalfJson(), 1, 502, "that is not valid JSON"],
    ["nothing", answering(200), 1, 502, "answered something unexpected"],
    ["something else", answering(200, { data: [] }), 1, 502, "answered something unexpected"],
    ["a redirect", HttpFault.Redirect({ status: 302, location: "http://elsewhere.test/login" }), 1, 502, "a redirect"],
    ["resets", HttpFault.Reset(), 3, 502, "Platform API: GET http://127.0.0.1:"],
    ["never", HttpFault.Hang(), 1, 504, "no answer within 1 s"]
  ])("with %s", ([, fault, times, status, words]) =>
    Effect.gen(function*() {
      const { platform, request } = yield* untouched
      yield* platform.fail({}, fault, { times })
      const reply = yield* request("GET", "/api/platform/apps")
      expect([reply.status, reply.body]).toEqual([status, { error: expect.stringContaining(words) }])
      expect(reply.text).not.toContain("platform-token")
      expect(reply.text.length).toBeLessThan(1_000)
      expect(yield* platform.calls).toHaveLength(times)
    }))

  it.scopedLive("is named with the setting that is missing", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith("platform:\n  url: http://127.0.0.1:1\n"))
      const reply = yield* request("GET", "/api/platform/servers")
      expect([reply.status, reply.body]).toEqual([500, { error: expect.stringContaining("platform.token") }])
    }))
})

describe("platform.json", () => {
  const config = (path: string) => `/api/platform/config?path=${encodeURIComponent(path)}`

  it.scopedLive("is read as an array of entries", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, {
        "one/platform.json": "{\"name\":\"shop\",\"extra\":{\"z\":1,\"a\":2}}",
        "two/platform.json": "[{\"name\":\"a\"},{\"name\":\"b\",\"port\":3000}]",
        "none": { directory: true },
        "bad/platform.json": "{\"name\":\"shop\",\"static\":\"false\"}"
      })
      const { platform, request } = yield* service()
      expect((yield* request("GET", config(`${root}/one`))).text).toBe(
        "[{\"name\":\"shop\",\"extra\":{\"z\":1,\"a\":2}}]"
      )
      expect((yield* request("GET", config(`${root}/two`))).body).toEqual([{ name: "a" }, { name: "b", port: 3000 }])
      for (const path of [`${root}/none`, `${root}/absent`, "relative"]) {
        const reply = yield* request("GET", config(path))
        expect([reply.status, reply.body]).toEqual([200, { error: expect.stringContaining("No platform.json found") }])
      }
      const bad = yield* request("GET", config(`${root}/bad`))
      expect([bad.status, bad.body]).toEqual([422, {
        error: expect.stringContaining("entry 1 (\"shop\"): static must be true or false")
      }])
      for (const [query, error] of [["", "path is missing"], ["?path=", "path must not be empty"]] as const) {
        const reply = yield* request("GET", `/api/platform/config${query}`)
        expect([reply.status, reply.body]).toEqual([400, { error }])
      }
      for (const path of ["drift", "upsert"]) {
        const reply = yield* request("POST", `/api/platform/${path}`, { projectPath: "" })
        expect([reply.status, reply.body]).toEqual([400, { error: "projectPath must not be empty" }])
      }
      for (const [path, status] of [["drift", 422], ["upsert", 500]] as const) {
        const reply = yield* request("POST", `/api/platform/${path}`, { projectPath: `${root}/bad` })
        expect([reply.status, reply.body]).toEqual([status, {
          error: expect.stringContaining("static must be true or false")
        }])
      }
      expect(yield* platform.calls).toEqual([])
    }))

  it.scopedLive("is what drift and upsert go by", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      const entry = { name: "new", buildpack: "autopack", port: 3000, repo: "shop" }
      yield* plant(root, { "platform.json": JSON.stringify(entry), "platform.changelog.json": "{ broken" })
      const { request } = yield* service()
      const drift = () => Effect.map(request("POST", "/api/platform/drift", { projectPath: root }), ({ body }) => body)
      expect(yield* drift()).toEqual({ exists: false, diffs: [], appConfig: entry, configs: [entry] })
      const plan = () => request("POST", "/api/platform/plan", { projectPath: root, appName: "new" })
      const planned = yield* plan()
      expect(planned).toMatchObject({ status: 200, body: { appName: "new", uuid: null, action: "create" } })
      const { planHash } = Object.assign({ planHash: "" }, planned.body)
      const upsert = yield* request("POST", "/api/platform/upsert", { projectPath: root, appName: "new", planHash })
      expect(upsert.body).toMatchObject({ success: true, domain: "", changelogEntry: { action: "create" } })
      expect(yield* drift()).toMatchObject({ exists: true, diffs: [], app: { name: "new" } })
      const again = yield* request("POST", "/api/platform/upsert", { projectPath: root, appName: "new", planHash })
      expect([again.status, again.body]).toEqual([409, {
        error: expect.stringContaining("the application on the platform is now there as")
      }])
      expect(yield* plan()).toMatchObject({ status: 200, body: { action: "none", changes: [] } })
      const bad = yield* request("POST", "/api/platform/upsert", { projectPath: root, planHash: "?" })
      expect([bad.status, bad.body]).toEqual([400, { error: expect.stringContaining("planHash must be the planHash") }])
      const unknown = yield* request("POST", "/api/platform/upsert", { projectPath: root, appName: "other" })
      expect([unknown.status, unknown.body]).toEqual([500, { error: expect.stringContaining("\"other\" not found") }])
      const empty = yield* request("POST", "/api/platform/upsert", { projectPath: `${root}/nowhere` })
      expect([empty.status, empty.body]).toEqual([500, { error: expect.stringContaining("No project file found") }])
      expect((yield* request("POST", "/api/platform/drift", {})).status).toBe(400)
    }))
})

describe("webhooks", () => {
  const deleting = (url: string) =>
    Effect.promise(async () => {
      const response = await fetch(`${url}/api/platform/webhooks/teardown`, { method: "DELETE" })
      return { status: response.status, text: await response.text() }
    })

  it.scopedLive("are set up, told and torn down without a body", () =>
    Effect.gen(function*() {
      const { gitHost, platform, request, url } = yield* service()
      const webhookUrl = `${platform.url}/webhooks/source/githost/events/manual`
      const setUp = yield* request("POST", "/api/platform/webhooks/setup")
      expect([setUp.status, setUp.body]).toEqual([200, {
        webhookUrl,
        appsConfigured: 2,
        results: [
          { app: "shop", uuid: "a1", platform: "secret_set", githost: expect.stringMatching(/^created \(hook \d+\)$/) },
          { app: "blog/ü", uuid: "a2", platform: "secret_set", githost: "skipped: no git repo configured" }
        ]
      }])
      expect((yield* gitHost.calls)[0]?.headers).toMatchObject({
        authorization: "token",
        "content-type": "application/json"
      })
      expect((yield* request("GET", "/api/platform/webhooks/status")).body).toEqual({
        webhookUrl,
        results: [
          { app: "shop", uuid: "a1", platformSecretSet: true, githostWebhookActive: true, repo: "shop" },
          { app: "blog/ü", uuid: "a2", platformSecretSet: true, githostWebhookActive: false, repo: null }
        ]
      })
      const tornDown = yield* deleting(url)
      expect([tornDown.status, JSON.parse(tornDown.text)]).toMatchObject([200, {
        appsConfigured: 2,
        results: [{ githost: "removed 1 hook(s)" }, { githost: "skipped" }]
      }])
    }))

  it.scopedLive("are set up for one application", () =>
    Effect.gen(function*() {
      const { request } = yield* service()
      const setup = "/api/platform/webhooks/setup"
      expect((yield* request("POST", setup, { appName: "shop" })).body).toMatchObject({ appsConfigured: 1 })
      expect((yield* request("POST", setup, { appName: "shop", other: 1 })).status).toBe(400)
      expect((yield* request("POST", "/api/platform/webhooks/setup", { appName: 3 })).status).toBe(400)
      expect(yield* request("DELETE", "/api/platform/webhooks/teardown", { appName: "shpo" })).toMatchObject({
        status: 404,
        body: {
          error: "The platform has no application named \"shpo\", and nothing was changed. Did you mean \"shop\"?"
        }
      })
    }))

  it.scopedLive("need a secret", () =>
    Effect.gen(function*() {
      const { platform, request } = yield* service({ more: "" })
      const reply = yield* request("POST", "/api/platform/webhooks/setup", {})
      expect([reply.status, reply.body]).toEqual([500, { error: expect.stringContaining("gitHost.webhookSecret") }])
      expect(yield* platform.calls).toEqual([])
    }))
})
