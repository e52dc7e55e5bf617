import { HttpServer } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { formatBaseUrl, listen, RecordAddress } from "../../src/http/listen.ts"
import { canTellPeers } from "../../src/http/ownPeer.ts"
import { Http } from "../../src/http/server.ts"
import { afterLastToken, firstTokenConsequence, lastTokenConsequence } from "../../src/schema/tokens.ts"
import { LocalFilesLive } from "../../src/services/local/LocalFiles.ts"
import { servicesLive } from "../../src/services/ServicesLive.ts"
import { findService } from "../../src/services/state/discovery.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { type Reply, settingsFileWith } from "../fixtures/programs/service.ts"
import { requestTo } from "../sandbox/request.ts"

const local = LocalFilesLive.pipe(Layer.provideMerge(NodeContext.layer))

/** A service whose private token the programs of this user find. */
const started = (text: string) =>
  Effect.gen(function*() {
    const file = yield* settingsFileWith(text)
    const services = Layer.provide(servicesLive(file), NodeContext.layer)
    const http = Layer.merge(Http, Layer.provide(RecordAddress, NodeContext.layer))
    const context = yield* Layer.build(Layer.fresh(listen(http, services, { host: "127.0.0.1", port: 0 })))
    const url = formatBaseUrl(Context.get(context, HttpServer.HttpServer).address)
    const { token } = yield* Effect.flatMap(Effect.provide(findService(file), local), (found) => found).pipe(
      Effect.retry(Schedule.spaced("20 millis"))
    )
    const ask = (
      method: string,
      path: string,
      body?: unknown,
      headers: Readonly<Record<string, string>> = { origin: url }
    ) =>
      requestTo(url, body === undefined ? headers : { ...headers, "content-type": "application/json" })(
        method,
        path,
        body
      )
    return {
      ask,
      file,
      own: { authorization: `Bearer ${Redacted.value(token)}` },
      privateToken: token,
      read: () => readFileSync(file, "utf8"),
      url,
      write: (content: string) => Effect.sync(() => writeFileSync(file, content))
    }
  })

const bearer = (token: unknown) => ({ authorization: `Bearer ${String(token)}` })
const cookieOf = ({ headers }: Pick<Reply, "headers">) => headers.get("set-cookie")?.split(";")[0] ?? ""
const fieldOf = (body: unknown, name: string): unknown =>
  Object.entries(Object(body)).find(([key]) => key === name)?.[1]

describe("tokens", () => {
  it.scopedLive("are added, list their names and roles alone, and are removed with their sessions", () =>
    Effect.gen(function*() {
      const { ask, file, own, read } = yield* started("# mine\nhttp: { token: general-token-0123456789 }\n")
      const added = yield* ask("POST", "/api/tokens", { name: "Ann", role: "viewer" }, own)
      expect(added).toMatchObject({ status: 200, body: { file, name: "Ann", role: "viewer", consequence: null } })
      const token = fieldOf(added.body, "token")
      expect(token).toMatch(/^berth_[\w-]{43}$/)
      expect(read()).toBe(
        `# mine\nhttp: { token: general-token-0123456789, tokens: [{ name: Ann, token: ${token}, role: viewer }] }\n`
      )
      const listed = yield* ask("GET", "/api/tokens", undefined, bearer(token))
      expect(listed.body).toEqual({
        file,
        tokens: [
          { name: "token", role: "operator", setting: "http.token", problem: null },
          { name: "Ann", role: "viewer", setting: "http.tokens[0]", problem: null }
        ],
        refusal: expect.stringContaining("only the user of the service's machine"),
        onAdd: null,
        onRemove: null
      })
      expect(JSON.stringify(listed.body)).not.toContain(String(token))
      const cookie = cookieOf(yield* ask("POST", "/api/session", { token }))
      expect((yield* ask("GET", "/api/servers", undefined, { cookie })).status).toBe(200)

      const twin = yield* ask("POST", "/api/tokens", { name: "Ann", role: "operator" }, own)
      expect(twin).toMatchObject({ status: 409, body: { error: expect.stringContaining("a token \"Ann\" already") } })
      expect((yield* ask("DELETE", "/api/tokens/Ann", undefined, own)).body).toMatchObject({ consequence: null })
      expect(read()).toBe("# mine\nhttp: { token: general-token-0123456789, tokens: [] }\n")
      expect((yield* ask("GET", "/api/servers", undefined, { cookie })).status).toBe(401)
      expect((yield* ask("GET", "/api/servers", undefined, bearer(token))).status).toBe(401)
      const gone = yield* ask("DELETE", "/api/tokens/Ann", undefined, own)
      expect(gone).toMatchObject({ status: 404, body: { error: expect.stringContaining("there is none") } })
      const general = yield* ask("DELETE", "/api/tokens/token", undefined, own)
      expect(general.body).toEqual({ error: expect.stringContaining("berth settings set http.token --unset") })
    }))

  it.scopedLive("are for the user of the machine: no caller with one changes them or gets a ticket", () =>
    Effect.gen(function*() {
      const { ask, read } = yield* started("http: { token: general-token-0123456789 }\n")
      const before = read()
      const general = bearer("general-token-0123456789")
      const cookie = cookieOf(yield* ask("POST", "/api/session", { token: "general-token-0123456789" }))
      for (const headers of [general, { cookie, origin: "" }]) {
        for (
          const [method, path, body] of [
            ["POST", "/api/tokens", { name: "Eve", role: "operator" }],
            ["DELETE", "/api/tokens/token", undefined],
            ["POST", "/api/session/ticket", undefined]
          ] as const
        ) {
          const refused = yield* ask(method, path, body, headers)
          expect([path, refused.status]).toEqual([path, 403])
        }
      }
      expect(read()).toBe(before)
    }))

  it.scopedLive("need names that fit, and a role", () =>
    Effect.gen(function*() {
      const { ask, read } = yield* started("")
      for (const name of ["token", " a", "", "a\nb", ".", "..", "a".repeat(101), "\u{1F600}".repeat(51)]) {
        expect([name, (yield* ask("POST", "/api/tokens", { name, role: "viewer" })).status]).toEqual([name, 400])
      }
      expect((yield* ask("POST", "/api/tokens", { name: "a", role: "x" })).status).toBe(400)
      expect(read()).toBe("")
    }))

  it.scopedLive(
    "leave the own user's page that adds the first one all rights",
    () =>
      Effect.gen(function*() {
        if (!canTellPeers) return
        const { ask, url } = yield* started("")
        const cookie = cookieOf(yield* ask("POST", "/api/tokens", { name: "Ann", role: "viewer" }))
        const page = { cookie, origin: url }
        expect((yield* ask("POST", "/api/tokens", { name: "Bob", role: "operator" }, page)).status).toBe(200)
        // The cookie is worth nothing to others, who may see it: browsers send it to each port of this machine.
        const proxied = { ...page, "x-forwarded-for": "127.0.0.1" }
        expect((yield* ask("GET", "/api/servers", undefined, proxied)).status).toBe(401)
        expect((yield* ask("DELETE", "/api/tokens/Bob", undefined, proxied)).status).toBe(401)
      })
  )

  it.scopedLive("leave any other page that adds the first one a session of it, and the machine's user everything", () =>
    Effect.gen(function*() {
      const { ask, own, url } = yield* started("")
      expect((yield* ask("GET", "/api/tokens")).body).toMatchObject({
        tokens: [],
        refusal: null,
        onAdd: firstTokenConsequence,
        onRemove: null
      })
      const proxied = { origin: url, "x-forwarded-for": "192.0.2.1" }
      const added = yield* ask("POST", "/api/tokens", { name: "Ann", role: "viewer" }, proxied)
      expect(added.body).toMatchObject({ consequence: firstTokenConsequence })
      const cookie = cookieOf(added)
      expect((yield* ask("GET", "/api/session", undefined, { cookie })).body).toMatchObject({
        name: "Ann",
        role: "viewer"
      })
      expect((yield* ask("GET", "/api/servers")).status).toBe(401)
      const written = yield* ask("POST", "/api/tokens", { name: "Eve", role: "operator" }, { cookie, origin: url })
      expect(written.status).toBe(403)
      expect((yield* ask("GET", "/api/tokens", undefined, own)).body).toMatchObject({
        refusal: null,
        onRemove: lastTokenConsequence
      })
      const removed = yield* ask("DELETE", "/api/tokens/Ann", undefined, own)
      expect(removed.body).toMatchObject({ consequence: expect.stringContaining(afterLastToken) })
      expect((yield* ask("GET", "/api/servers", undefined, { cookie })).status).toBe(401)
      expect((yield* ask("GET", "/api/servers")).status).toBe(401)
      expect((yield* ask("GET", "/api/servers", undefined, own)).status).toBe(200)
    }))

  it.scopedLive("judge a request again whose body ends after the first one", () =>
    Effect.gen(function*() {
      const { ask, read, url } = yield* started("")
      const body = JSON.stringify({ settings: { "deploy.keepReleases": 3 } })
      const { port } = new URL(url)
      const answer = yield* Effect.async<string, Error>((resume) => {
        const socket = connect(Number(port), "127.0.0.1")
        let said = ""
        socket.on("data", (data) => {
          said += data.toString()
          if (said === "HTTP/1.1 100 Continue\r\n\r\n") {
            const added = ask("POST", "/api/tokens", { name: "Ann", role: "viewer" })
            void Effect.runPromise(added).then(() => socket.write(body))
          }
        })
        socket.on("error", (error) => resume(Effect.fail(error)))
        socket.on("close", () => resume(Effect.succeed(said)))
        socket.write([
          "PATCH /api/settings HTTP/1.1",
          `Host: 127.0.0.1:${port}`,
          `Origin: ${url}`,
          "Content-Type: application/json",
          `Content-Length: ${body.length}`,
          "Expect: 100-continue",
          "Connection: close",
          "",
          ""
        ].join("\r\n"))
      })
      expect(answer).toContain("HTTP/1.1 401")
      expect(read()).not.toContain("keepReleases")
    }))
})

describe.skipIf(process.platform === "win32")("a log-in ticket", () => {
  it.scopedLive("logs a browser of this user in, once, with all that the user may do", () =>
    Effect.gen(function*() {
      const { ask, own, url } = yield* started("http: { token: general-token-0123456789 }\n")
      const { body } = yield* ask("POST", "/api/session/ticket", undefined, own)
      const ticket = fieldOf(body, "ticket")
      expect(ticket).toMatch(/^ticket_[\w-]{43}$/)
      const opened = yield* ask("POST", "/api/session", { token: ticket })
      expect(opened).toMatchObject({ status: 200, body: { role: "operator", expiresAt: expect.any(String) } })
      const page = { cookie: cookieOf(opened), origin: url }
      expect((yield* ask("POST", "/api/tokens", { name: "Ann", role: "viewer" }, page)).status).toBe(200)
      expect((yield* ask("DELETE", "/api/tokens/Ann", undefined, page)).status).toBe(200)
      const again = yield* ask("POST", "/api/session", { token: ticket })
      expect(again).toMatchObject({ status: 401, body: { error: expect.stringContaining("was used already") } })
    }))

  it.scopedLive("is no token, is worth nothing through a proxy, and nothing afterwards", () =>
    Effect.gen(function*() {
      const { ask, own, url } = yield* started("http: { token: general-token-0123456789 }\n")
      const ticket = fieldOf((yield* ask("POST", "/api/session/ticket", undefined, own)).body, "ticket")
      expect((yield* ask("GET", "/api/servers", undefined, bearer(ticket))).status).toBe(401)
      const proxied = { origin: url, "x-forwarded-for": "192.0.2.1" }
      expect((yield* ask("POST", "/api/session", { token: ticket }, proxied)).status).toBe(401)
      expect((yield* ask("POST", "/api/session", { token: ticket })).status).toBe(401)
    }))

  it.scopedLive("is not needed without tokens", () =>
    Effect.gen(function*() {
      const { ask, own } = yield* started("")
      expect((yield* ask("POST", "/api/session/ticket", undefined, own)).body).toEqual({ ticket: null })
      expect((yield* ask("POST", "/api/session/ticket")).status).toBe(403)
    }))

  it.scopedLive("is what berth open gives the browser", () =>
    Effect.gen(function*() {
      const { ask, privateToken, url, write } = yield* started("")
      const open = runCli({ url, token: privateToken }, ["open"])
      process.env["BERTH_NO_BROWSER"] = "1"
      yield* Effect.addFinalizer(() => Effect.sync(() => delete process.env["BERTH_NO_BROWSER"]))
      expect((yield* open).out).toBe(`${url}\n`)
      yield* write("http: { token: general-token-0123456789 }\n")
      const address = /^(\S+)\/#(\S+)\n$/.exec((yield* open).out)
      expect(address?.[1]).toBe(url)
      expect((yield* ask("POST", "/api/session", { token: address?.[2] })).status).toBe(200)
      const other = yield* runCli({ url, token: Redacted.make("general-token-0123456789") }, ["open"])
      expect(other.out).toBe(`${url}\n`)
    }))
})
