import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFile } from "node:fs/promises"
import { networkInterfaces } from "node:os"
import { addressOf, operations } from "../fixtures/hostile/operations.ts"
import { exchange } from "../fixtures/network/exchange.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"

const server = JSON.stringify({ name: "a", host: "h", username: "u" })
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]
const ui = "http://ui.lan:5173"
const withUi = `http:\n  origins: [${ui}]\n`
const withToken = `http:\n  token: open-sesame\n`

/** Requests that the guard refuses for every method and address. */
const refusals: ReadonlyArray<readonly [why: string, status: number, head: (port: number) => string]> = [
  ["a foreign name", 403, (port) => `Host: evil.example:${port}\r\nContent-Type: application/json\r\n`],
  [
    "a foreign origin",
    403,
    (port) => `Host: localhost:${port}\r\nOrigin: https://evil.example\r\nContent-Type: application/json\r\n`
  ],
  [
    "another site",
    403,
    (port) => `Host: localhost:${port}\r\nSec-Fetch-Site: cross-site\r\nContent-Type: application/json\r\n`
  ],
  ["no Host", 403, () => "Content-Type: application/json\r\n"],
  ["a form's type", 415, (port) => `Host: localhost:${port}\r\nContent-Type: text/plain\r\n`]
]

/** An address of this machine that others can reach. */
const outside = Object.values(networkInterfaces()).flatMap((all) => all ?? []).find(({ family, internal }) =>
  family === "IPv4" && !internal
)?.address

describe("the guard", () => {
  it.scopedLive.each(methods)("stands before %s, whatever it asks for", (method) =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(""))
      for (const path of ["/api/health", "/api/servers", "/reference", "/openapi.json", "/none"]) {
        const head = `${method} ${path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`
        expect((yield* exchange(port, head)).status, path).toBe(403)
      }
    }))

  it.scopedLive.each(refusals)(
    "lets nothing happen for %s, and waits for no body",
    ([, status, head]) =>
      Effect.gen(function*() {
        const { port, request } = yield* startService(yield* settingsFileWith(""))
        const sent = `POST /api/servers HTTP/1.1\r\n${head(port)}Content-Length: ${server.length}\r\n\r\n`
        const whole = yield* exchange(port, sent + server)
        expect(whole.status).toBe(status)
        expect(JSON.parse(whole.body)).toEqual({ error: expect.any(String) })
        expect((yield* exchange(port, sent)).status).toBe(status)
        expect((yield* request("GET", "/api/servers")).body).toEqual([])
      })
  )

  it.scopedLive("waits for no body that is announced as too long, or comes without the token", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(withToken))
      const head = `POST /api/servers HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n`
      expect((yield* exchange(port, `${head}Content-Length: 10\r\n\r\n`)).status).toBe(401)
      const known = `${head}Authorization: Bearer open-sesame\r\n`
      expect((yield* exchange(port, `${known}Content-Length: 1000001\r\n\r\n`)).status).toBe(413)
    }))

  it.scopedLive("waits for no body that no endpoint reads", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(withToken))
      const rest = `Host: localhost:${port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
      expect((yield* exchange(port, `GET /openapi.json HTTP/1.1\r\n${rest}`)).status).toBe(200)
      expect((yield* exchange(port, `POST /none HTTP/1.1\r\nAuthorization: Bearer open-sesame\r\n${rest}`)).status)
        .toBe(404)
    }))

  it.scopedLive("reads little of a body before it knows the token, and up to a megabyte then", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(withToken))
      const send = (path: string, text: string, headers = "") => {
        const head = `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n${headers}`
        const chunk = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
        return Effect.all([
          exchange(port, `${head}Content-Length: ${text.length}\r\n\r\n${text}`),
          exchange(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`)
        ])
      }
      const known = "Authorization: Bearer open-sesame\r\n"
      for (const { body, status } of yield* send("/api/session", `"${"a".repeat(20_000)}"`)) {
        expect([status, JSON.parse(body)]).toEqual([413, { error: "The request body is over 16 kB" }])
      }
      for (const { status } of yield* send("/api/servers", `"${"a".repeat(900_000)}"`, known)) expect(status).toBe(400)
      for (const { body, status } of yield* send("/api/servers", `"${"a".repeat(1_000_000)}"`, known)) {
        expect([status, JSON.parse(body)]).toEqual([413, { error: "The request body is over 1 MB" }])
      }
    }))

  it.scopedLive("requires the token for every endpoint, and for no page that only tells how to use them", () =>
    Effect.gen(function*() {
      const { port, request } = yield* startService(yield* settingsFileWith(withToken))
      const all = [
        ...operations.filter(({ name }) => !["POST /api/session", "GET /api/health"].includes(name)).map((operation) =>
          [operation.method, addressOf(operation, {})] as const
        ),
        ...["/none", "/reference/more", "/openapi.json/more", "/mcp", "/assets"].map((path) => ["GET", path] as const),
        ["OPTIONS", "/api/servers"] as const,
        ["POST", "/reference"] as const
      ]
      for (const [method, path] of all) {
        const { headers, status } = yield* request(method, path)
        expect([status, headers.get("www-authenticate")], `${method} ${path}`).toEqual([401, `Bearer realm="Berth"`])
      }
      const known = { authorization: "Bearer open-sesame" }
      expect((yield* request("GET", "/api/servers", undefined, known)).status).toBe(200)
      for (const path of ["/reference", "/reference?theme=dark", "/openapi.json", "/", "//", "/api/health"]) {
        expect((yield* request("GET", path)).status, path).toBe(200)
        expect((yield* request("HEAD", path)).status, path).toBe(200)
        const foreign = `GET ${path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`
        expect((yield* exchange(port, foreign)).status, path).toBe(403)
      }
    }))

  it.scopedLive.skipIf(outside === undefined)(
    "lets nobody in while the settings have lost their token, also from this machine",
    () =>
      Effect.gen(function*() {
        const file = yield* settingsFileWith(withToken)
        const { port } = yield* startService(file, "0.0.0.0")
        const head = "GET /api/servers HTTP/1.1\r\nHost: localhost\r\n"
        const known = `${head}Authorization: Bearer open-sesame\r\n\r\n`
        expect((yield* exchange(port, known, outside)).status).toBe(200)
        expect((yield* exchange(port, `${head}\r\n`, outside)).status).toBe(401)
        yield* Effect.promise(() => writeFile(file, ""))
        expect((yield* exchange(port, known, outside)).status).toBe(200)
        expect((yield* exchange(port, `${head}\r\n`)).status).toBe(401)
        yield* Effect.promise(() => writeFile(file, withToken.replace(/token: .*/, "hosts: []")))
        expect((yield* exchange(port, known, outside)).status).toBe(401)
        expect((yield* exchange(port, known)).status).toBe(401)
        expect((yield* exchange(port, `${head}\r\n`)).status).toBe(401)
      })
  )

  it.scopedLive("marks what it refuses, and what never becomes a request", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(withUi))
      const head = `Host: localhost:${port}\r\n`
      const answers: ReadonlyArray<readonly [status: number, sent: string]> = [
        [403, "GET /api/health HTTP/1.1\r\nHost: evil.example\r\n\r\n"],
        [403, "GET /api/health HTTP/1.1\r\n\r\n"],
        [415, `POST /api/servers HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`],
        [413, `POST /api/servers HTTP/1.1\r\n${head}Content-Length: 1000001\r\n\r\n`],
        [403, "GET /api/health HTTP/1.1\r\nHost: evil.example\r\nExpect: something\r\n\r\n"],
        [200, `GET /api/health HTTP/1.1\r\n${head}Expect: something\r\n\r\n`],
        [404, `GET /none HTTP/1.1\r\n${head}\r\n`],
        [400, "hello\r\n\r\n"],
        [431, `GET /?${"x".repeat(64_000)} HTTP/1.1\r\n${head}\r\n`]
      ]
      for (const [status, sent] of answers) {
        const { body, headers, status: answered } = yield* exchange(port, sent)
        expect(answered, sent).toBe(status)
        expect(headers.get("x-content-type-options"), sent).toBe("nosniff")
        expect(headers.get("cache-control"), sent).toBe("no-store")
        expect(headers.get("cross-origin-resource-policy"), sent).toBe("same-origin")
        expect(headers.get("access-control-allow-origin"), sent).toBeNull()
        if (status !== 200) expect(JSON.parse(body), sent).toEqual({ error: expect.stringMatching(/./) })
      }
    }))

  it.scopedLive("tells a listed origin, and it alone, that it may read and what it may send", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(withUi))
      const asked = (method: string, origin: string, more = "") =>
        exchange(port, `${method} /api/servers HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: ${origin}\r\n${more}\r\n`)
      const cors = ({ headers }: { readonly headers: Headers }) =>
        Object.fromEntries([...headers].filter(([name]) => /^access-control-|^vary$|resource-policy/.test(name)))

      const reading = {
        "access-control-allow-origin": ui,
        "access-control-expose-headers": "berth-run, location, preference-applied, mcp-session-id",
        "cross-origin-resource-policy": "cross-origin",
        "vary": "Origin"
      }
      expect(cors(yield* asked("GET", ui, "Sec-Fetch-Site: cross-site\r\n"))).toEqual(reading)
      const preflight = yield* asked("OPTIONS", ui, "Access-Control-Request-Method: POST\r\n")
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get("x-content-type-options")).toBe("nosniff")
      expect(preflight.headers.get("cache-control")).toBe("no-store")
      expect(cors(preflight)).toEqual({
        ...reading,
        "access-control-allow-headers": "content-type, authorization, prefer, idempotency-key, last-event-id, " +
          "mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
        "access-control-allow-methods": "GET, POST, PATCH, DELETE",
        "access-control-max-age": "600"
      })

      const silent = { "cross-origin-resource-policy": "same-origin" }
      expect(cors(yield* asked("GET", `http://localhost:${port}`))).toEqual(silent)
      for (const method of ["GET", "OPTIONS"]) {
        const refused = yield* asked(method, "https://evil.example", "Access-Control-Request-Method: POST\r\n")
        expect(refused.status).toBe(403)
        expect(cors(refused)).toEqual(silent)
      }
      // A listed origin can read its refusals too.
      expect(cors(yield* asked("POST", ui, "Content-Length: 2\r\n"))).toEqual(silent)
    }))

  it.scopedLive("gives pages a policy of their own, and nothing else", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      const page = yield* request("GET", "/reference")
      expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'sha256-/)
      expect(page.headers.get("x-frame-options")).toBe("DENY")
      expect((yield* request("GET", "/openapi.json")).headers.get("content-security-policy")).toBeNull()
    }))
})
