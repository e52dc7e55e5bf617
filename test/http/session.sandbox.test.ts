import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFile } from "node:fs/promises"
import { type Reply, type Service, settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { inPart } from "../fixtures/thorough.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const settings = (role: string) =>
  `http:
  tokens:
    - { name: Ann, token: token-of-ann-0123456789, role: ${role} }
`
const page = ({ url }: Service) => ({ origin: url })
const server = { name: "a", host: "h", username: "u" }
const cookieOf = ({ headers }: Reply) => headers.get("set-cookie")?.split(";")[0] ?? ""

describe("a session", () => {
  it.scopedLive("lets the page in with a cookie that no script reads and that is not the token", () =>
    Effect.gen(function*() {
      const service = yield* startService(yield* settingsFileWith(settings("operator")))
      const { request } = service
      const opened = yield* request("POST", "/api/session", { token: "token-of-ann-0123456789" }, page(service))
      expect(opened).toMatchObject({
        status: 200,
        body: { name: "Ann", role: "operator", expiresAt: expect.any(String) }
      })
      const written = opened.headers.get("set-cookie") ?? ""
      expect(written).toMatch(/^berth_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/)
      expect(`${written}${opened.text}`).not.toContain("token-of-ann")
      const cookie = cookieOf(opened)

      expect(yield* request("GET", "/api/session", undefined, { cookie })).toMatchObject({ body: { name: "Ann" } })
      expect((yield* request("GET", "/api/servers", undefined, { cookie })).status).toBe(200)
      expect((yield* request("POST", "/api/servers", server, { cookie, ...page(service) })).status).toBe(200)
      const foreign = yield* request("POST", "/api/servers", server, { cookie })
      expect(foreign).toMatchObject({ status: 403, body: { error: expect.stringContaining("a page of this service") } })

      const secure = yield* request("POST", "/api/session", { token: "token-of-ann-0123456789" }, {
        "x-forwarded-proto": "https"
      })
      expect(secure.headers.get("set-cookie")).toMatch(
        /^__Host-berth_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/
      )
      const siblings = `berth_session=${"s".repeat(43)}; ${cookieOf(secure)}`
      expect((yield* request("GET", "/api/session", undefined, { cookie: siblings })).body).toMatchObject({
        name: "Ann"
      })
      const onHttps = { "x-forwarded-proto": "https" }
      expect((yield* request("GET", "/api/session", undefined, { ...onHttps, cookie })).status).toBe(401)

      const closed = yield* request("DELETE", "/api/session", undefined, { cookie, ...page(service) })
      expect(closed.body).toEqual({ success: true })
      expect(closed.headers.get("set-cookie")).toMatch(/^berth_session=; Max-Age=0; /)
      expect((yield* request("GET", "/api/session", undefined, { cookie })).status).toBe(401)
    }))

  it.scopedLive("has the role that its token has now, and ends with it", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith(settings("operator"))
      const service = yield* startService(file)
      const { request } = service
      const cookie = cookieOf(
        yield* request("POST", "/api/session", { token: "token-of-ann-0123456789" }, page(service))
      )
      const save = Effect.map(
        request("POST", "/api/servers", server, { cookie, ...page(service) }),
        ({ status }) => status
      )
      expect(yield* save).toBe(200)
      yield* must(() => writeFile(file, settings("viewer")))
      expect(yield* save).toBe(403)
      yield* must(() => writeFile(file, settings("viewer").replace("0123456789", "another-one")))
      expect(yield* save).toBe(401)
    }))

  it.scopedLive("is not opened by a wrong token, and its cookie cannot be made up", () =>
    Effect.gen(function*() {
      const service = yield* startService(yield* settingsFileWith(settings("operator")))
      const { request } = service
      const wrong = yield* request("POST", "/api/session", { token: "wrong" }, page(service))
      expect(wrong).toMatchObject({ status: 401, body: { error: expect.stringContaining("not one of the service's") } })
      expect(wrong.headers.get("set-cookie")).toBeNull()
      const cookie = `berth_session=${"a".repeat(43)}`
      expect((yield* request("GET", "/api/servers", undefined, { cookie })).status).toBe(401)
      const elsewhere = { origin: "https://evil.example" }
      expect((yield* request("POST", "/api/session", { token: "wrong" }, elsewhere)).status).toBe(403)
    }))

  it.scopedLive("is ended by a log-in that carries its cookie, by a wrong one not", () =>
    Effect.gen(function*() {
      const service = yield* startService(yield* settingsFileWith(settings("operator")))
      const { request } = service
      const logIn = (token: string, cookie = "") =>
        request("POST", "/api/session", { token }, { ...page(service), ...(cookie === "" ? {} : { cookie }) })
      const isOpen = (cookie: string) =>
        Effect.map(request("GET", "/api/session", undefined, { cookie }), ({ status }) => status === 200)
      const first = cookieOf(yield* logIn("token-of-ann-0123456789"))
      yield* logIn("wrong", first)
      expect(yield* isOpen(first)).toBe(true)
      const second = cookieOf(yield* logIn("token-of-ann-0123456789", first))
      expect([yield* isOpen(first), yield* isOpen(second)]).toEqual([false, true])
    }))

  it.scopedLive("of an operator outlasts any number of log-ins of a viewer", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith(
        `${settings("operator")}    - { name: Vic, token: token-of-vic-0123456789, role: viewer }\n`
      )
      const service = yield* startService(file)
      const { request } = service
      const logIn = (token: string) => request("POST", "/api/session", { token }, page(service))
      const cookie = cookieOf(yield* logIn("token-of-ann-0123456789"))
      const many = Array.from({ length: inPart(1_100, 100) }, () => logIn("token-of-vic-0123456789"))
      const statuses = yield* Effect.all(many, { concurrency: 20 })
      expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]))
      expect((yield* request("GET", "/api/session", undefined, { cookie })).body).toMatchObject({ name: "Ann" })
    }))

  it.scopedLive("is not needed where no token is", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      const opened = yield* request("POST", "/api/session", { token: "any" })
      expect(opened.body).toEqual({ name: expect.stringContaining("@"), role: "operator", expiresAt: null })
      expect(opened.headers.get("set-cookie")).toBeNull()
    }))
})
