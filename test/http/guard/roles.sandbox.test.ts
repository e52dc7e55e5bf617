import { describe, expect, it, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Access, collectRequiredAccess } from "../../../src/http/api/annotations.ts"
import { BerthApi } from "../../../src/http/api/BerthApi.ts"
import { operations } from "../../fixtures/hostile/operations.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { type Service, settingsFileWith, startService } from "../../fixtures/programs/service.ts"

const tokens = { operator: "token-of-the-operator", viewer: "token-of-the-viewer" }
const settings = `projects: { anywhere: true }
http:
  token: token-without-a-name
  tokens:
    - { name: Ann, token: ${tokens.operator}, role: operator }
    - { name: Vic, token: ${tokens.viewer}, role: viewer }
`

class TheService extends Context.Tag("test/TheService")<TheService, Service>() {}

const access = collectRequiredAccess(BerthApi)
const isOpen = (access: Access | undefined) => access === "anyone" || access === "anyone without parameters"

const endpoints = operations.map(({ fields, method, name, path }) => ({
  name,
  method,
  path: path.replace(/\{\w+\}/g, "none"),
  hasBody: fields.some(([part]) => part === "body"),
  access: access.get(`${method} ${path.replace(/\{(\w+)\}/g, ":$1")}`)
}))

/** Endpoints for the user of the service's machine, whom no token stands for. */
const ofOwnUser = ["POST /api/session/ticket", "DELETE /api/tokens/{name}"]

const accessTo = ({ access }: typeof endpoints[number]) => Option.getOrUndefined(access ?? Option.none())

// An empty body is refused by each that wants one: what is refused for its role is refused before that.
const ask = ({ hasBody, method, path }: typeof endpoints[number], token?: string) =>
  Effect.flatMap(
    TheService,
    ({ request }) =>
      request(
        method,
        path,
        hasBody ? { nothing: 1 } : undefined,
        token === undefined ? {} : { authorization: `Bearer ${token}` }
      )
  )

describe("the contract", () => {
  it.each(endpoints)("says who may call $name", ({ access }) => {
    expect(access?._tag, "annotate it with forViewers or forOperators").toBe("Some")
  })

  it("lets a viewer call nothing that starts a run, and every GET", () => {
    const named = (method: string) => endpoints.filter((endpoint) => endpoint.method === method)
    // Everybody may ask for plain health; the files of the user of the machine are for operators.
    const secured = named("GET").filter(({ path }) => !["/api/health", "/api/servers/ssh-config"].includes(path))
    expect(new Set(secured.map(({ access }) => Option.getOrNull(access ?? Option.none())))).toEqual(
      new Set(["viewer"])
    )
    const others = named("DELETE").filter(({ path }) => path !== "/api/session")
    expect(new Set(others.map(({ access }) => Option.getOrNull(access ?? Option.none())))).toEqual(
      new Set(["operator"])
    )
  })
})

layer(Layer.scoped(TheService, Effect.flatMap(settingsFileWith(settings), (file) => startService(file))))(
  "with tokens in the settings",
  (it) => {
    it.effect.each(endpoints)("$name answers whom it should", (endpoint) =>
      Effect.gen(function*() {
        const refused = endpoint.path === "/api/health" ? 200 : isOpen(accessTo(endpoint)) ? 400 : 401
        expect((yield* ask(endpoint)).status).toBe(refused)
        const operator = yield* ask(endpoint, tokens.operator)
        if (ofOwnUser.includes(endpoint.name)) {
          expect(operator.status).toBe(403)
          expect(operator.text).toMatch(/own user|user of the service's machine/)
        } else expect([401, 403]).not.toContain(operator.status)
        const viewer = yield* ask(endpoint, tokens.viewer)
        if (Option.contains(endpoint.access ?? Option.none(), "operator")) {
          expect(viewer.status).toBe(403)
          expect(viewer.body).toEqual({
            error: expect.stringMatching(
              /needs the role operator, and the token "Vic" has the role viewer\. Nothing was/
            )
          })
        } else expect(viewer.status).toBe(operator.status)
      }))

    it.effect.each([
      "/api/container/deploy/",
      "/api//container/deploy",
      "/api/container/%64eploy",
      "/API/container/deploy",
      "/api/container/deploy?x=1",
      "/api/container/deploy;a",
      "/api/./container/deploy"
    ])("a viewer deploys by no other spelling: %s", (path) =>
      Effect.gen(function*() {
        const { request } = yield* TheService
        const { status } = yield* request("POST", path, {}, { authorization: `Bearer ${tokens.viewer}` })
        expect([400, 403, 404]).toContain(status)
      }))

    it.effect("health is open to everybody, and what it depends on to those with a token", () =>
      Effect.gen(function*() {
        const { request } = yield* TheService
        const ask = (path: string, token?: string) =>
          request("GET", path, undefined, token === undefined ? {} : { authorization: `Bearer ${token}` })
        expect((yield* ask("/api/health")).status).toBe(200)
        for (const query of ["deep=true", "deep=false", "%64eep=true", "x"]) {
          expect((yield* ask(`/api/health?${query}`)).status, query).toBe(401)
        }
        expect((yield* ask("/api/health?deep=true", tokens.viewer)).status).toBe(200)
      }))

    it.effect("a run bears the name of the token", () =>
      Effect.gen(function*() {
        const { request, settingsFile } = yield* TheService
        const body = { projectPath: dirname(settingsFile) }
        yield* Effect.promise(() => writeFile(join(body.projectPath, "build-image-tar.sh"), "true\n"))
        expect((yield* runCli({ settingsFile }, ["trust", body.projectPath, "--yes"])).code).toBe(0)
        const nameFor = (token: string) =>
          Effect.map(
            request("POST", "/api/container/build", body, {
              "authorization": `Bearer ${token}`,
              "prefer": "respond-async"
            }),
            ({ body }) => body
          )
        expect(yield* nameFor(tokens.operator)).toMatchObject({ requestedBy: { name: "Ann" } })
        expect(yield* nameFor("token-without-a-name")).toMatchObject({ requestedBy: { name: "token" } })
      }))

    it.effect("a viewer gets no answer of a run by its key either", () =>
      Effect.gen(function*() {
        const { request } = yield* TheService
        const body = { projectPath: "/nowhere" }
        const headers = (token: string) => ({ "authorization": `Bearer ${token}`, "idempotency-key": "a" })
        yield* request("POST", "/api/container/build", body, headers(tokens.operator))
        expect((yield* request("POST", "/api/container/build", body, headers(tokens.viewer))).status).toBe(403)
      }))
  }
)
