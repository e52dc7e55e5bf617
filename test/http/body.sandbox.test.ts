import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { request as httpRequest } from "node:http"
import { limits } from "../../src/schema/basics.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`

/** Sends a body in chunks, without a Content-Length. */
const sendChunked = (port: number, body: string) =>
  Effect.async<string>((resume) => {
    const sending = httpRequest(
      {
        port,
        host: "127.0.0.1",
        method: "POST",
        path: "/api/servers",
        headers: { "content-type": "application/json" }
      },
      (response) => {
        let text = ""
        response.on("data", (chunk) => text += String(chunk)).on("end", () => resume(Effect.succeed(text)))
      }
    )
    sending.write(body.slice(0, 3))
    sending.end(body.slice(3))
  })

describe("a JSON body", () => {
  it.scopedLive.each<[what: string, body: string, words: RegExp]>([
    [
      "a path with its backslashes as they are",
      `{"serverId": "1",\n "projectPath": "C:\\Users\\ann"}`,
      /^The request body is not valid JSON: line 2, column \d+, in projectPath: a backslash in a string must be/
    ],
    ["a comma at the end", `{"name": "a",}`, /line 1, column \d+.*: .*comma at the end is not allowed/],
    ["a name without quotes", `{name: "a"}`, /line 1, column 2: a value must be a string in double quotes/],
    ["half a body", `{"host": "h", "files": [{"name":`, /column 33, in files\.0\.name: a value is expected/],
    ["a missing comma", `{"apps": [{"name": "a" "x": 1}]}`, /line 1, column 24: a comma is expected here/],
    ["a broken list", `{"name": "a", "files": [1 2]}`, /column 27, in files\.0: a comma is expected here/],
    ["two bodies", `{} {}`, /line 1, column 4: something follows the end/],
    ["only spaces", "  ", /not valid JSON: line 1, column 3: it is empty/]
  ])("with %s is refused with the place", ([, body, words]) =>
    Effect.gen(function*() {
      const { port, request } = yield* startService(yield* settingsFileWith(""))
      const reply = yield* request("POST", "/api/servers", body)
      expect(reply.status).toBe(400)
      expect(reply.body).toEqual({ error: expect.stringMatching(words) })
      expect(yield* sendChunked(port, body)).toBe(reply.text)
    }))

  it.scopedLive("does not come back with the credential in which it is broken", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      const broken = [
        `{"password": "open\\sesame", "host": "h"}`,
        `{"password": "open"sesame", "host": "h"}`,
        `{"password" "open": "sesame"}`,
        `{"password": open, "sesame": 1 2}`,
        `{"password": "open" "sesame"}`
      ]
      for (const body of broken) {
        const reply = yield* request("POST", "/api/servers", body)
        expect(reply.status).toBe(400)
        expect(reply.text).not.toMatch(/open|sesame/)
      }
      expect((yield* request("POST", "/api/servers", broken[0])).text).toContain("in password: a backslash")
    }))

  it.scopedLive("may begin with a byte order mark", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      const server = JSON.stringify({ name: "a", host: "h", username: "u" })
      expect((yield* request("POST", "/api/servers", `\uFEFF${server}`)).status).toBe(200)
    }))

  it.scopedLive("is read as deep as anybody needs, and refused beyond, at once", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      const allowed = yield* request("PATCH", "/api/platform/apps/a", `{"a": ${nested(limits.jsonDepth - 1)}}`)
      expect(allowed.text).not.toContain("nested")
      for (
        const body of [nested(limits.jsonDepth + 1), nested(100_000), "[".repeat(500_000), "{\"a\":".repeat(100_000)]
      ) {
        const started = performance.now()
        const reply = yield* request("POST", "/api/servers", body)
        expect(reply.status).toBe(400)
        expect(reply.body).toEqual({
          error: `The request body cannot be read: it is nested more than ${limits.jsonDepth} levels deep`
        })
        expect(performance.now() - started).toBeLessThan(1_000)
      }
      expect((yield* request("PATCH", "/api/platform/apps/a", `{"a": ${nested(100_000)}}`)).status).toBe(400)
    }))
})
