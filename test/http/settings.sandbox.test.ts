import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

const text = "token: general-secret # mine\ndeploy: { pull: sometimes-not }\n".replace("sometimes-not", "never") +
  "platform:\n  token: ${env:BERTH_NO_TOKEN}\n"

describe("the settings over HTTP", () => {
  it.scopedLive("are listed with source, meaning and problem, and without secrets", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(text))
      const { body, status, text: sent } = yield* request("GET", "/api/settings")
      expect(status).toBe(200)
      expect(sent).not.toContain("general-secret")
      const { settings } = body as { readonly settings: ReadonlyArray<{ readonly name: string }> }
      const of = (name: string) => settings.find((setting) => setting.name === name)
      expect(of("token")).toMatchObject({ value: "***", source: "file", line: 1, problem: null })
      expect(of("deploy.pull")).toMatchObject({ value: "never", source: "file", line: 2 })
      expect(of("deploy.healthTimeout")).toMatchObject({ value: "1 minute", source: "default", line: null })
      expect(of("proxy.subnet")).toMatchObject({ value: null, source: "none" })
      expect(of("platform.token")).toMatchObject({
        value: null,
        source: "environment",
        problem: expect.stringContaining("BERTH_NO_TOKEN is not set")
      })
    }))

  it.scopedLive("are changed after a plan that changes nothing, and no other byte is", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith(text)
      const { request } = yield* startService(file)
      const patch = (settings: object, query = "") => request("PATCH", `/api/settings${query}`, { settings })
      const change = { "deploy.keepReleases": 3, token: "other-secret" }
      const plan = yield* patch(change, "?plan=true")
      expect(plan).toMatchObject({ status: 200, body: { file, changed: true } })
      expect(plan.text).toContain("+deploy: { pull: never, keepReleases: 3 }")
      expect(plan.text).toContain("+token: \\\"*** (new)\\\" # mine")
      expect(plan.text).not.toMatch(/general-secret|other-secret/)
      expect(readFileSync(file, "utf8")).toBe(text)
      expect((yield* patch(change)).text).toBe(plan.text)
      expect(readFileSync(file, "utf8")).toBe(
        text.replace("general-secret", "other-secret").replace("never }", "never, keepReleases: 3 }")
      )
      expect((yield* patch({ "deploy.keepReleases": 3 })).body).toEqual({ file, changed: false, diff: "" })
      const before = readFileSync(file, "utf8")
      const wrong: ReadonlyArray<readonly [settings: object, words: string]> = [
        [{ "deploy.keepRelease": 3 }, "deploy.keepRelease is not a setting. Did you mean \"deploy.keepReleases\"?"],
        [{ "deploy.keepReleases": 0 }, "deploy.keepReleases must be a whole number from 1 to 100: nothing was changed"],
        [{ "deploy.pull": "never", "deploy.transfer": "half" }, "deploy.transfer must be auto or full"],
        [{ constructor: "x" }, "constructor is not a setting"],
        [{ servers: "x" }, "servers is not a setting"],
        [{ "http.hosts": "a" }, "http.hosts must be a list of strings"]
      ]
      for (const [settings, words] of wrong) {
        const { body, status } = yield* patch(settings)
        expect([settings, status, body]).toEqual([settings, 400, { error: expect.stringContaining(words) }])
      }
      expect(readFileSync(file, "utf8")).toBe(before)
    }))

  it.scopedLive("say of which kind each is, and why a caller may not change one", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      const { request } = yield* startService(file)
      const listed = (headers = {}) =>
        Effect.map(request("GET", "/api/settings", undefined, headers), ({ body }) => {
          const { settings } = body as { readonly settings: ReadonlyArray<{ readonly name: string }> }
          return (name: string) => settings.find((setting) => setting.name === name)
        })
      const mine = yield* listed()
      expect(mine("deploy.pull")).toMatchObject({ kind: "choice", choices: ["missing", "never", "always"] })
      expect(mine("deploy.onUnhealthy")).toMatchObject({ kind: "choice", choices: ["rollback", "keep"] })
      for (
        const [name, kind] of [
          ["token", "secret"],
          ["state.url", "secret"],
          ["mcp.enabled", "flag"],
          ["http.hosts", "list"],
          ["build.shell", "list"],
          ["gitHost.sshPort", "number"],
          ["deploy.keepReleases", "number"],
          ["deploy.healthTimeout", "text"],
          ["projects.root", "text"]
        ] as const
      ) expect(mine(name)).toMatchObject({ kind, refusal: null })
      writeFileSync(
        file,
        "http:\n  tokens:\n    - { name: Ann, token: token-of-ann-0123456789, role: operator }\n" +
          "    - { name: Eve, token: token-of-eve-0123456789, role: viewer }\n"
      )
      const anns = yield* listed({ authorization: "Bearer token-of-ann-0123456789" })
      expect(anns("deploy.pull")).toMatchObject({ refusal: null })
      expect(anns("projects.root")).toMatchObject({
        refusal: expect.stringContaining("berth settings set projects.root")
      })
      const eves = yield* listed({ authorization: "Bearer token-of-eve-0123456789" })
      expect(eves("deploy.pull")).toMatchObject({ refusal: "A viewer changes nothing" })
    }))

  it.scopedLive("tell of the directory of the projects, and create it with its setting or not at all", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const file = join(home, "config/berth/berth.yaml")
      const { request } = yield* startService(file)
      const root = join(home, "work")
      const patch = (settings: object, query = "", rest: object = {}) =>
        request("PATCH", `/api/settings${query}`, { settings, ...rest })
      const rootOf = (standing: string, projects: number, path = root) => ({
        projectsRoot: { path, standing, projects }
      })
      const change = { "projects.root": root }
      expect((yield* patch(change, "?plan=true", { createDirectory: true })).body).toMatchObject({
        file,
        changed: true,
        diff: expect.stringContaining(`+  root: ${root}`),
        ...rootOf("missing", 0)
      })
      expect([existsSync(root), existsSync(file)]).toEqual([false, false])
      expect(yield* patch({ ...change, "deploy.pull": "sometimes" }, "", { createDirectory: true }))
        .toMatchObject({ status: 400 })
      expect(existsSync(root)).toBe(false)
      expect((yield* patch(change, "", { createDirectory: true })).body).toMatchObject(rootOf("usable", 0))
      expect(readFileSync(file, "utf8")).toBe(`projects:\n  root: ${root}\n`)
      mkdirSync(join(root, "hello"))
      writeFileSync(join(root, "hello/Dockerfile"), "FROM scratch\n")
      writeFileSync(join(root, "note"), "")
      expect((yield* patch(change, "?plan=true")).body).toMatchObject({ changed: false, ...rootOf("usable", 1) })
      expect((yield* patch({ "projects.root": join(root, "note") }, "?plan=true")).body)
        .toMatchObject(rootOf("not a directory", 0, join(root, "note")))
      expect((yield* request("GET", "/api/projects")).body).toMatchObject([{ name: "hello" }])
    }))

  it.scopedLive("let no token widen its own rights", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith(
        "http:\n  tokens:\n    - { name: Ann, token: token-of-ann-0123456789, role: operator }\n" +
          "    - { name: Eve, token: token-of-eve-0123456789, role: viewer }\n"
      )
      const { request } = yield* startService(file)
      const before = readFileSync(file, "utf8")
      const as = (name: string) => ({ authorization: `Bearer token-of-${name}-0123456789` })
      const patch = (settings: object, name = "ann") => request("PATCH", "/api/settings", { settings }, as(name))
      const forbidden: ReadonlyArray<object> = [
        { "build.shell": ["sh", "-c", "id"] },
        { "editor.command": ["sh"] },
        { "http.token": "t".repeat(32) },
        { "projects.anywhere": true },
        { "state.url": "postgres://elsewhere/berth" },
        { "mcp.readOnly": false },
        { "telemetry.otlp": "https://elsewhere.test" },
        { "proxy.targetIp": "${file:/etc/passwd}" },
        { "platform.localAliases": ["a", "${env:HOME}"] }
      ]
      for (const settings of forbidden) {
        expect([settings, (yield* patch(settings)).status]).toEqual([settings, 403])
      }
      expect((yield* patch({ "deploy.keepReleases": 3 }, "eve")).status).toBe(403)
      expect((yield* request("GET", "/api/settings", undefined, as("eve"))).status).toBe(200)
      expect(readFileSync(file, "utf8")).toBe(before)
      expect((yield* patch({ "deploy.keepReleases": 3 })).status).toBe(200)
    }))

  it.scopedLive("send a stored token to no address that a caller with a token gives", () =>
    Effect.gen(function*() {
      const tokens = "http:\n  tokens:\n    - { name: Ann, token: token-of-ann-0123456789, role: operator }\n"
      const file = yield* settingsFileWith(
        `${tokens}token: general-secret\nplatform: { url: "https://p.test", token: platform-secret }\n`
      )
      const { request } = yield* startService(file)
      const ann = { authorization: "Bearer token-of-ann-0123456789" }
      const patch = (settings: object, query = "?plan=true") =>
        request("PATCH", `/api/settings${query}`, { settings }, ann)
      const refused: ReadonlyArray<object> = [
        { "platform.url": "https://elsewhere.test" },

        { "gitHost.url": "https://elsewhere.test" },
        { "gitHost.url": "https://elsewhere.test", "gitHost.token": "" },
        { "gitHost.url": "https://elsewhere.test", "gitHost.token": null }
      ]
      for (const settings of refused) {
        for (const query of ["", "?plan=true"]) {
          const { status, text } = yield* patch(settings, query)
          expect([settings, status]).toEqual([settings, 403])
          expect(text).toContain("would send the stored token to another address, unless the same change gives ")
        }
      }
      const allowed: ReadonlyArray<object> = [
        { "platform.url": null },
        { "platform.url": "https://p.test" },
        { "platform.url": "https://elsewhere.test", "platform.token": null },
        { "gitHost.url": "https://elsewhere.test", token: null },
        { "platform.url": "https://elsewhere.test", "platform.token": "another-secret" },
        { "gitHost.url": "https://elsewhere.test", "gitHost.token": "another-secret" }
      ]
      for (const settings of allowed) expect([settings, (yield* patch(settings)).status]).toEqual([settings, 200])
      writeFileSync(file, tokens)
      expect((yield* patch({ "platform.url": "https://p.test" })).status).toBe(200)
    }))

  it.scopedLive("replace a stored server by its id or name", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(
        yield* settingsFileWith("servers:\n  - { id: a, name: Attic, host: h, username: u, password: p }\n")
      )
      const put = (id: string, more: object = {}) =>
        request("PUT", `/api/servers/${id}`, { name: "Loft", host: "h", username: "u", ...more })
      expect(yield* put("attic", { useSudo: true })).toMatchObject({
        status: 200,
        body: { success: true, server: { id: "a", name: "Loft", useSudo: true } }
      })
      expect((yield* put("a", { hostKey: `SHA256:${"a".repeat(43)}` })).status).toBe(200)
      expect((yield* put("nobody")).status).toBe(404)
      expect((yield* put("a", { id: "b" })).status).toBe(400)
    }))
})
