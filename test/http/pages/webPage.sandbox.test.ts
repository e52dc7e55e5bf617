import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { pagePolicy } from "../../../src/http/pages.ts"
import { exchange } from "../../fixtures/network/exchange.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const html = "<!doctype html><title>The page</title>"
const script = "console.log(\"the script\")"
const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }

const started = (settings = "") =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    yield* plant(directory, {
      "index.html": html,
      "secret.txt": "not an asset",
      "assets/main-abc.js": script,
      "assets/main-abc.js.br": brotliCompressSync(script),
      "assets/main-abc.js.gz": gzipSync(script),
      "assets/style-abc.css": "a{}",
      "assets/.hidden.js": script
    })
    return yield* startService(yield* settingsFileWith(settings), "127.0.0.1", { page: directory })
  })

describe("the web page", () => {
  it.scopedLive("answers navigations outside the addresses of programs", () =>
    Effect.gen(function*() {
      const { request } = yield* started()
      for (const path of ["/", "/projects/hello", "/runs/1?x=1", "/apiary", "/a/b/c"]) {
        const answer = yield* request("GET", path, undefined, browser)
        expect(answer, path).toMatchObject({ status: 200, text: html })
        expect(answer.headers.get("cache-control")).toBe("no-cache")
        expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8")
      }
      for (const path of ["/api", "/api/none", "/mcp", "/mcp/x", "/assets/none.js", "/assets/"]) {
        expect((yield* request("GET", path, undefined, browser)).status, path).toBe(404)
      }
      expect(yield* request("GET", "/api/container/deploy", undefined, browser)).toMatchObject({ status: 405 })
      expect(yield* request("GET", "/projects/hello")).toMatchObject({
        status: 404,
        body: { error: expect.any(String) }
      })
      expect(yield* request("POST", "/projects/hello", {}, browser)).toMatchObject({ status: 404 })
      expect(yield* request("GET", "/")).toMatchObject({ text: expect.stringContaining("/openapi.json") })
      expect((yield* request("GET", "/reference", undefined, browser)).text).not.toBe(html)
    }))

  it.scopedLive("runs its own scripts alone, and is shown in no frame", () =>
    Effect.gen(function*() {
      const { request } = yield* started()
      const { headers } = yield* request("GET", "/", undefined, browser)
      expect(headers.get("content-security-policy")).toBe(pagePolicy)
      expect(pagePolicy).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
          "require-trusted-types-for 'script'; trusted-types 'none'"
      )
      expect(headers.get("x-frame-options")).toBe("DENY")
    }))

  it.scopedLive("loads assets that may be kept for ever, compressed as the caller takes them", () =>
    Effect.gen(function*() {
      const { request } = yield* started()
      const asked = (encoding: string) =>
        request("GET", "/assets/main-abc.js", undefined, { "accept-encoding": encoding })
      for (
        const [encoding, answered] of [["gzip, deflate, br", "br"], ["gzip", "gzip"], ["br;q=0, gzip;q=0.5", "gzip"], [
          "identity",
          null
        ]] as const
      ) {
        const answer = yield* asked(encoding)
        expect(answer, encoding).toMatchObject({ status: 200, text: script })
        expect(answer.headers.get("content-encoding"), encoding).toBe(answered)
        expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
        expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8")
        expect(answer.headers.get("vary")).toBe("Accept-Encoding")
      }
      const plain = yield* request("GET", "/assets/style-abc.css", undefined, { "accept-encoding": "br" })
      expect(plain).toMatchObject({ status: 200, text: "a{}" })
      expect(plain.headers.get("content-encoding")).toBeNull()
    }))

  it.scopedLive("lets nothing out that is not an asset", () =>
    Effect.gen(function*() {
      const { port } = yield* started()
      const names = [
        "../secret.txt",
        "..%2fsecret.txt",
        ".hidden.js",
        "main-abc.js.br",
        "%2e%2e/secret.txt"
      ]
      for (const name of names) {
        const head = `GET /assets/${name} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`
        expect((yield* exchange(port, head)).status, name).toBe(404)
      }
    }))

  it.scopedLive("comes without a token, for the log-in is part of it, and data does not", () =>
    Effect.gen(function*() {
      const { request } = yield* started("http:\n  token: open-sesame\n")
      expect((yield* request("GET", "/projects/hello", undefined, browser)).status).toBe(200)
      expect((yield* request("GET", "/assets/main-abc.js")).status).toBe(200)
      for (const path of ["/api/projects", "/api/none", "/mcp"]) {
        expect((yield* request("GET", path, undefined, browser)).status, path).toBe(401)
      }
      expect((yield* request("GET", "/projects/hello")).status).toBe(401)
    }))

  it.scopedLive("opens from a link on another site, which gets nothing else", () =>
    Effect.gen(function*() {
      const { port } = yield* started()
      const asked = (path: string, ...headers: ReadonlyArray<string>) =>
        Effect.map(
          exchange(
            port,
            [`GET ${path} HTTP/1.1`, `Host: localhost:${port}`, "Sec-Fetch-Site: cross-site", ...headers, "", ""].join(
              "\r\n"
            )
          ),
          ({ status }) => status
        )
      const link = ["Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
      expect(yield* asked("/projects/hello", ...link)).toBe(200)
      expect(yield* asked("/api/projects", ...link)).toBe(403)
      expect(yield* asked("/projects/hello", "Accept: text/html", "Sec-Fetch-Mode: no-cors")).toBe(403)
      expect(
        yield* asked("/projects/hello", "Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe")
      ).toBe(403)
      expect(yield* asked("/assets/main-abc.js", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script")).toBe(403)
    }))

  it.scopedLive("is missed without harm: the service says how to build it", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      const answer = yield* request("GET", "/", undefined, browser)
      expect(answer.status).toBe(200)
      expect(answer.text).toContain("npm run build")
      expect((yield* request("GET", "/projects/hello", undefined, browser)).status).toBe(404)
      expect((yield* request("GET", "/assets/main-abc.js")).status).toBe(404)
      expect((yield* request("GET", "/api/health")).status).toBe(200)
    }))
})
