import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { chmod, readFile } from "node:fs/promises"
import { join } from "node:path"
import { makeSshServer } from "../../src/sandbox/sshServer.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"
import { plainFile } from "../pipelines/routes/proxyFiles.ts"

/** The service, with a server that holds a proxy file of the user who runs the test. */
const world = Effect.gen(function*() {
  const home = yield* temporaryDirectory
  const file = join(home, "berth.yml")
  yield* plant(home, { "berth.yml": plainFile, "bin/sudo": "#!/bin/sh\nshift\nexec \"$@\"\n" })
  yield* Effect.promise(() => chmod(join(home, "bin/sudo"), 0o755))
  const ssh = yield* makeSshServer({ home, password: Redacted.make("pw"), path: [join(home, "bin")] })
  const service = yield* startService(
    yield* settingsFileWith(`proxy:
  configFile: ${file}
  targetIp: 192.168.1.20
servers:
  - id: "1"
    name: Main
    host: ${ssh.host}
    port: ${ssh.port}
    username: ${ssh.username}
    password: pw
`)
  )
  return { ...service, text: Effect.promise(() => readFile(file, "utf8")) }
})

const routes = "/api/platform/routes"
const app = { routeName: "app", domain: "app.example.com", port: 2011 }

describe("routes over HTTP", () => {
  it.scopedLive("are added, found again and removed; the next port follows them", () =>
    Effect.gen(function*() {
      const { request, text } = yield* world
      const asked = (method: string, body: unknown) =>
        Effect.map(request(method, routes, body), ({ body, status }) => ({ body, status }))
      expect(yield* asked("POST", app)).toEqual({ status: 200, body: { added: true } })
      expect((yield* request("GET", "/api/platform/next-port")).body).toEqual({
        nextPort: 2012,
        usedPorts: [2010, 2011]
      })
      const told = (yield* request("GET", "/api/platform/next-port?evidence=true")).body
      expect(told).toMatchObject({
        usedPorts: expect.arrayContaining([2010, 2011]),
        evidence: expect.arrayContaining([
          { port: 2011, usedBy: expect.arrayContaining([{ kind: "route", what: "http://192.168.1.20:2011" }]) }
        ])
      })
      expect((yield* request("GET", "/api/platform/next-port?evidence=1")).body).toEqual({
        error: expect.stringContaining("evidence")
      })
      expect(yield* asked("POST", app)).toEqual({ status: 200, body: { added: false, reason: "route_exists" } })
      expect(yield* asked("POST", { ...app, port: 2012 })).toEqual({
        status: 409,
        body: { error: expect.stringContaining("192.168.1.20:2011") }
      })
      expect(yield* asked("DELETE", { routeName: "app" })).toEqual({
        status: 200,
        body: { removed: true, routeName: "app" }
      })
      expect(yield* asked("DELETE", { routeName: "app" })).toEqual({
        status: 200,
        body: { removed: false, reason: "route_not_found" }
      })
      expect(yield* text).toBe(plainFile)
    }))

  it.scopedLive("are listed, and planned without a change", () =>
    Effect.gen(function*() {
      const { request, text } = yield* world
      expect((yield* request("GET", routes)).body).toMatchObject({
        serverName: "Main",
        routes: [{ routeName: "blog", domains: ["blog.example.com"], targets: ["192.168.1.20:2010"], madeBy: "berth" }]
      })
      const planned = yield* request("POST", `${routes}/plan`, { action: "add", ...app })
      expect(planned.body).toMatchObject({ changes: true, diff: expect.stringContaining("+    app:\n") })
      expect((yield* request("POST", `${routes}/plan`, { action: "remove", routeName: "app" })).body).toMatchObject({
        changes: false,
        reason: "route_not_found"
      })
      expect(yield* request("POST", `${routes}/plan`, { action: "move", routeName: "a b", prot: 7 })).toMatchObject({
        status: 400,
        body: {
          error:
            "action must be \"add\" or \"remove\"; routeName must be letters, digits, \"_\" and \"-\", and start " +
            "with a letter or digit. prot is not a known field. Did you mean \"port\"? Known fields: action, routeName, " +
            "domain, port"
        }
      })
      expect(yield* text).toBe(plainFile)
    }))

  it.scopedLive("are not touched by a request that lacks a field or has one that does not fit", () =>
    Effect.gen(function*() {
      const { request, text } = yield* world
      const lacking = [undefined, {}, { ...app, port: undefined }, { ...app, port: null }, { ...app, domain: "" }, {
        ...app,
        routeName: null
      }]
      for (const body of lacking) {
        expect(yield* request("POST", routes, body)).toMatchObject({
          status: 200,
          body: { error: expect.stringMatching(/routeName.*domain.*port/) }
        })
      }
      for (const body of [undefined, {}, { routeName: "" }, { routeName: null }]) {
        expect(yield* request("DELETE", routes, body)).toMatchObject({
          status: 200,
          body: { error: expect.stringContaining("routeName") }
        })
      }
      expect((yield* request("POST", routes, { ...app, port: "2008" })).body).toEqual({
        error: "port must be a whole number from 1 to 65535"
      })
      const unfit = [
        ["routeName", { ...app, routeName: "a b" }],
        ["routeName", { ...app, routeName: "a:\n  b" }],
        ["routeName", { ...app, routeName: 7 }],
        ["domain", { ...app, domain: "a`b" }],
        ["domain", { ...app, domain: "{{x}}" }],
        ["domain", { ...app, domain: ["a.example.com"] }],
        ["port", { ...app, port: 0 }],
        ["port", { ...app, port: 65536 }],
        ["port", { ...app, port: "2011" }],
        ["port", { ...app, port: 1.5 }]
      ] as const
      for (const [field, body] of unfit) {
        expect(yield* request("POST", routes, body)).toMatchObject({
          status: 400,
          body: { error: expect.stringMatching(new RegExp(`^${field} must be `)) }
        })
      }
      expect((yield* request("DELETE", routes, { routeName: "../x" })).status).toBe(400)
      expect((yield* request("POST", routes, [])).status).toBe(400)
      expect(yield* text).toBe(plainFile)
    }))
})

describe("the next port over HTTP", () => {
  it.scopedLive("is 2007 when nothing can be read", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      expect(yield* request("GET", "/api/platform/next-port")).toMatchObject({
        status: 200,
        body: { nextPort: 2007, usedPorts: [] }
      })
    }))
})
