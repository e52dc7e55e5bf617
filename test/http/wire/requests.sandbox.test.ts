import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { shared } from "../../fixtures/shared.ts"
import { inPart } from "../../fixtures/thorough.ts"

const here = tmpdir()
const nowhere = `${here}/no-such-directory-anywhere`
const oneServer = `servers:
  - id: "1"
    name: Main
    host: 127.0.0.1
    port: 1
    username: nobody
    password: hunter2-secret
    sudoPassword: hunter3-secret
`

/** Sends bytes as they are and answers the status line. */
const raw = (port: number, text: string) =>
  Effect.async<string>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text))
    let received = ""
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
      if (received.includes("\r\n")) {
        socket.destroy()
        resume(Effect.succeed(received.split("\r\n")[0] ?? ""))
      }
    })
    socket.on("error", () => resume(Effect.succeed("reset")))
    socket.on("close", () => resume(Effect.succeed(received === "" ? "closed" : received)))
  })

describe("bad input", () => {
  const one = shared(Effect.flatMap(settingsFileWith(oneServer), (file) => startService(file)))
  const deploy = { projectPath: here, serverId: "1", remotePath: "~/containers/x" }
  it.scopedLive.each(
    [
      ["no body", "POST", "/api/container/deploy", undefined, 400, /body is required/],
      ["half a body", "POST", "/api/container/deploy", "{\"projectPath\":", 400, /not valid JSON/],
      ["a list for a body", "POST", "/api/container/deploy", [], 400, /./],
      ["a missing field", "POST", "/api/container/deploy", { ...deploy, serverId: undefined }, 400, /^serverId/],
      ["a wrong type", "POST", "/api/container/deploy", { ...deploy, projectPath: 7 }, 400, /^projectPath/],
      ["a relative path", "POST", "/api/container/deploy", { ...deploy, projectPath: "x" }, 400, /projectPath "x"/],
      ["no directory", "POST", "/api/container/deploy", { ...deploy, projectPath: nowhere }, 400, /does not exist/],
      ["a line break", "POST", "/api/container/deploy", { ...deploy, remotePath: "~/a\nb" }, 400, /^remotePath/],
      ["a relative remote path", "POST", "/api/container/deploy", { ...deploy, remotePath: "a" }, 400, /^remotePath/],
      ["a way up", "POST", "/api/container/deploy", { ...deploy, remotePath: "~/../a" }, 400, /^remotePath/],
      [
        "an unknown server before a bad path",
        "POST",
        "/api/container/deploy",
        { ...deploy, serverId: "2", projectPath: "x" },
        404,
        /Server not found.*"2"/
      ],
      ["an unknown server", "GET", "/api/servers/2/scan", undefined, 404, /Server not found/],
      ["an unknown server", "GET", "/api/servers/2/containers", undefined, 404, /Server not found/],
      ["an unknown server", "GET", "/api/servers/2/logs", undefined, 404, /Server not found/],
      [
        "no target",
        "GET",
        "/api/servers/1/logs",
        undefined,
        500,
        /^Failed to get logs: containerName or remotePath required$/
      ],
      ["no whole number", "GET", "/api/servers/1/logs?containerName=a&lines=1.5", undefined, 400, /^lines/],
      ["too many lines", "GET", "/api/servers/1/logs?containerName=a&lines=10001", undefined, 400, /^lines/],
      ["no container's name", "GET", "/api/servers/1/logs?containerName=a%3Bb", undefined, 400, /^containerName/],
      [
        "an unreachable server",
        "GET",
        "/api/servers/1/containers",
        undefined,
        500,
        /^Failed to get containers: .*127\.0\.0\.1:1/
      ],
      ["an unreachable server", "GET", "/api/servers/1/scan", undefined, 500, /^Scan failed: .*127\.0\.0\.1:1/],
      ["a server without a host", "POST", "/api/servers", { name: "a", username: "b" }, 400, /^host/],
      [
        "a port beyond ports",
        "POST",
        "/api/servers",
        { name: "a", host: "h", username: "b", port: 70000 },
        400,
        /^port/
      ],
      [
        "a name without end",
        "POST",
        "/api/servers",
        { name: "x".repeat(5_000), host: "h", username: "u" },
        400,
        /^name must not be longer/
      ],
      [
        "a URL for a host",
        "POST",
        "/api/servers",
        { name: "a", host: "ssh://main", username: "u" },
        400,
        /^host must be a host name or an IP address/
      ],
      ["no such endpoint", "GET", "/api/nothing", undefined, 404, /No such endpoint: GET \/api\/nothing/]
    ] as const
  )("%s: %s %s", ([, method, path, body, status, words]) =>
    Effect.gen(function*() {
      const service = yield* one
      const reply = yield* service.request(method, path, body)
      expect(reply.status).toBe(status)
      expect(reply.body).toEqual({ error: expect.stringMatching(words) })
      expect(reply.text).not.toContain("secret")
      expect(yield* Effect.promise(() => readFile(service.settingsFile, "utf8"))).toBe(oneServer)
    }))
})

describe("the guard", () => {
  it.scopedLive("stands before routing, for every method", () =>
    Effect.gen(function*() {
      const { port, request } = yield* startService(yield* settingsFileWith(""))
      const head = `Host: localhost:${port}\r\nConnection: close\r\n`
      expect(yield* raw(port, `GET /api/health HTTP/1.1\r\n${head}\r\n`)).toContain(" 200 ")
      expect(yield* raw(port, `GET /api/health HTTP/1.1\r\nConnection: close\r\nHost: evil.example\r\n\r\n`)).toContain(
        " 403 "
      )
      expect(yield* raw(port, `GET /api/health HTTP/1.1\r\n${head}Host: evil.example\r\n\r\n`)).toContain(" 403 ")
      expect(yield* raw(port, `PUT /none HTTP/1.1\r\n${head}Origin: https://evil.example\r\n\r\n`)).toContain(" 403 ")
      const form = { "content-type": "text/plain" }
      expect((yield* request("POST", "/api/servers", "{}", form)).status).toBe(415)
      expect((yield* request("POST", "/api/servers", "x".repeat(1_000_001))).status).toBe(413)
    }))

  it.scopedLive("lets nobody name a host twice, or not at all", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(""))
      const head = `Host: localhost:${port}\r\nConnection: close\r\n\r\n`
      expect(yield* raw(port, `GET http://evil.example/api/health HTTP/1.1\r\n${head}`)).toContain(" 403 ")
      expect(yield* raw(port, `OPTIONS * HTTP/1.1\r\n${head}`)).toContain(" 403 ")
      expect(yield* raw(port, "GET /api/health HTTP/1.0\r\n\r\n")).toContain(" 403 ")
      expect(yield* raw(port, "GET /api/health HTTP/1.1\r\n\r\n")).toContain(" 403 ")
      expect(yield* raw(port, `GET /api/health HTTP/1.0\r\n${head}`)).toContain(" 200 ")
    }))

  it.scopedLive("stands before an upgrade too", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith(""))
      const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
      const head = `GET /api/health HTTP/1.1\r\nHost: localhost:${port}\r\n${upgrade}`
      expect(yield* raw(port, `${head}Origin: https://evil.example\r\n\r\n`)).toContain(" 403 ")
    }))

  it.scopedLive("reads a body whose length is not told, up to the limit, and says so beyond", () =>
    Effect.gen(function*() {
      const { port, request, url } = yield* startService(yield* settingsFileWith(""))
      const chunk = `${(100_000).toString(16)}\r\n${"x".repeat(100_000)}\r\n`
      const head = `POST /api/servers HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n`
      expect(yield* raw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(12)}`)).toContain(" 413 ")

      const chunked = (text: string) =>
        Effect.promise(async () => {
          const body = new Blob([text]).stream()
          const headers = { "content-type": "application/json" }
          const answer = await fetch(`${url}/api/servers`, { method: "POST", headers, body, duplex: "half" })
          return { status: answer.status, body: await answer.json() }
        })
      const server = { name: "a", host: "h", username: "u" }
      expect(yield* chunked(JSON.stringify(server))).toMatchObject({ status: 200, body: { server } })
      expect(yield* chunked("{\"name\":")).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/not valid JSON/) }
      })
      expect(yield* chunked(`"${"x".repeat(8_000_000)}"`)).toMatchObject({
        status: 413,
        body: { error: expect.stringMatching(/1 MB/) }
      })
      expect((yield* request("GET", "/api/servers")).body).toHaveLength(1)
    }))

  it.scopedLive("answers what is no request in the words of every other failure", () =>
    Effect.gen(function*() {
      const { port, request } = yield* startService(yield* settingsFileWith(""))
      expect(yield* raw(port, "hello\r\n\r\n")).toContain(" 400 ")
      const long = yield* request("GET", `/api/platform/config?path=${"x".repeat(64_000)}`)
      expect(long.status).toBe(431)
      expect(long.body).toEqual({ error: "The address or the headers of the request are too long" })
    }))

  it.scopedLive("marks every answer, failures too", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      for (const path of ["/api/health", "/api/nothing", "/openapi.json"]) {
        const { headers } = yield* request("GET", path)
        expect(headers.get("x-content-type-options")).toBe("nosniff")
        expect(headers.get("cache-control")).toBe("no-store")
        expect(headers.get("cross-origin-resource-policy")).toBe("same-origin")
        expect(headers.get("access-control-allow-origin")).toBeNull()
      }
    }))

  it.scopedLive("lets a listed origin read, and keeps its settings while the file is broken", () =>
    Effect.gen(function*() {
      const origin = "http://ui.lan:5173"
      const file = yield* settingsFileWith(`http:\n  origins: [${origin}]\n  token: open-sesame\n`)
      const { request } = yield* startService(file)
      const headers = { origin, authorization: "Bearer open-sesame" }
      const allowed = yield* request("GET", "/api/servers", undefined, headers)
      expect(allowed.status).toBe(200)
      expect(allowed.headers.get("access-control-allow-origin")).toBe(origin)
      expect((yield* request("GET", "/api/servers", undefined, { origin })).status).toBe(401)

      yield* Effect.promise(() => writeFile(file, "http: [\n"))
      expect((yield* request("GET", "/api/session")).status).toBe(401)
      expect((yield* request("GET", "/api/session", undefined, headers)).status).toBe(200)
    }))
})

describe("the settings file", () => {
  it.scopedLive("that does not parse is named with its line, and health still answers", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("projects:\n  root: /tmp\nservers: [\n")
      const { request } = yield* startService(file)
      const reply = yield* request("GET", "/api/servers")
      expect(reply.status).toBe(500)
      expect(reply.body).toEqual({ error: expect.stringMatching(/berth\.yaml:\d+/) })
      expect((yield* request("GET", "/api/health")).status).toBe(200)
    }))

  it.scopedLive.each([
    ["scan", "Scan failed: "],
    ["containers", "Failed to get containers: "],
    ["logs?containerName=a", "Failed to get logs: "]
  ])("that fails %s is told as the failure of that", ([path, prefix]) =>
    Effect.gen(function*() {
      const unresolved = oneServer.replace("hunter2-secret", "${env:BERTH_TEST_NO_SUCH_VARIABLE}")
      const { request, settingsFile } = yield* startService(yield* settingsFileWith(unresolved))
      const error = () =>
        Effect.map(request("GET", `/api/servers/1/${path}`), ({ body, status }) => {
          expect(status).toBe(500)
          return body
        })
      const said = (words: string) => ({ error: expect.stringMatching(new RegExp(`^${prefix}.*${words}`)) })
      expect(yield* error()).toEqual(said("BERTH_TEST_NO_SUCH_VARIABLE"))
      yield* Effect.promise(() => writeFile(settingsFile, "servers: [\n"))
      expect(yield* error()).toEqual(said("berth\\.yaml:\\d+"))
    }))

  it.scopedLive("takes a server and gives it back without its credentials", () =>
    Effect.gen(function*() {
      const { request, settingsFile } = yield* startService(yield* settingsFileWith("# mine\n"))
      const saved = yield* request("POST", "/api/servers", {
        id: "made up",
        name: "Main",
        host: "10.0.0.1",
        username: "deployer",
        password: "hunter2-secret",
        useSudo: true
      })
      const server = {
        id: expect.stringMatching(/^\d{13,}$/),
        name: "Main",
        host: "10.0.0.1",
        port: 22,
        username: "deployer",
        useSudo: true
      }
      expect(saved.body).toEqual({ success: true, server })
      expect((yield* request("GET", "/api/servers")).body).toEqual([server])
      expect(yield* Effect.promise(() => readFile(settingsFile, "utf8"))).toMatch(/^# mine\n[^]*hunter2-secret/)
    }))

  it.scopedLive("takes many servers at once and loses none", () =>
    Effect.gen(function*() {
      const many = inPart(50, 15)
      const { request } = yield* startService(yield* settingsFileWith(""))
      yield* Effect.forEach(
        Array.from({ length: many }, (_, index) => index),
        (index) => request("POST", "/api/servers", { name: `s${index}`, host: "h", username: "u" }),
        { concurrency: "unbounded" }
      )
      const { body } = yield* request("GET", "/api/servers")
      const servers = Array.isArray(body) ? body : []
      expect(servers.map(({ name }) => name).sort()).toEqual(
        Array.from({ length: many }, (_, index) => `s${index}`).sort()
      )
      expect(new Set(servers.map(({ id }) => id)).size).toBe(many)
    }))
})
