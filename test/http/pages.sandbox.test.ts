import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"

/** Sends a request and resets the connection some time after it has left. */
const breakOff = (port: number, path: string, millis: number) =>
  Effect.async<void>((resume) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      setTimeout(() => socket.resetAndDestroy(), millis)
    })
    socket.on("error", () => undefined).on("close", () => resume(Effect.void))
  })

describe("the pages", () => {
  it.scopedLive("begin with where to go, for people and for programs", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      const page = yield* request("GET", "/", undefined, { accept: "text/html,*/*" })
      expect(page.headers.get("content-type")).toContain("text/html")
      expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'none'/)
      const links = Array.from(page.text.matchAll(/href="([^"]+)"/g), ([, link]) => link ?? "")
      expect(links).toContain("/reference")
      for (const link of links) expect((yield* request("GET", link)).status, link).toBe(200)
      const text = yield* request("GET", "/")
      expect(text.headers.get("content-type")).toContain("text/plain")
      expect(text.text).toContain("/reference")
    }))

  it.scopedLive("survive that the first who asks for them breaks off", () =>
    Effect.gen(function*() {
      for (const millis of [0, 1, 2, 4, 8, 12, 16, 24]) {
        const { port, request } = yield* startService(yield* settingsFileWith(""))
        yield* Effect.all([breakOff(port, "/reference", millis), breakOff(port, "/openapi.json", millis)], {
          concurrency: 2
        })
        for (const path of ["/reference", "/openapi.json"]) {
          expect((yield* request("GET", path)).status, `${path} after ${millis} ms`).toBe(200)
        }
      }
    }))

  it.scopedLive("describe how to send a token while one is required, and only then", () =>
    Effect.gen(function*() {
      const { request, settingsFile } = yield* startService(yield* settingsFileWith(""))
      const described = Effect.map(request("GET", "/openapi.json"), ({ body }) => body)
      const security = [{ token: [] }, { session: [] }, { plainSession: [] }]
      expect(yield* described).toMatchObject({ security: [], components: { securitySchemes: {} } })
      expect((yield* request("GET", "/reference")).text).not.toContain("settings.\",\"scheme")
      yield* Effect.promise(() => writeFile(settingsFile, "http:\n  token: open-sesame\n"))
      expect(yield* described).toMatchObject({
        security,
        components: {
          securitySchemes: { token: { type: "http", scheme: "bearer", description: expect.any(String) } },
          schemas: { Error: expect.anything() }
        }
      })
      expect((yield* request("GET", "/reference")).text).toContain("securitySchemes\":")
      expect((yield* request("GET", "/reference")).text).not.toContain("open-sesame")
    }))
})
