import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeCoolifyWorld, makeWorld } from "../../../src/sandbox/world.ts"
import { version } from "../../../src/schema/session.ts"
import { patience } from "../../fixtures/patience.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const dependenciesOf = (body: unknown): ReadonlyArray<unknown> =>
  body !== null && typeof body === "object" && "dependencies" in body && Array.isArray(body.dependencies)
    ? body.dependencies
    : []

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

/** A home directory of the test's own. */
const temporaryHome = Effect.tap(temporaryDirectory, (home) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.env["HOME"]
      process.env["HOME"] = home
      return before
    }),
    (before) =>
      Effect.sync(() => {
        if (before === undefined) delete process.env["HOME"]
        else process.env["HOME"] = before
      })
  ))

describe("deep health", { timeout: 60_000 * patience }, () => {
  it.scopedLive("is ok throughout in the sandbox of Coolify and Gitea", () =>
    Effect.gen(function*() {
      const { request } = yield* startService((yield* makeCoolifyWorld).settingsFile)
      const { body } = yield* request("GET", "/api/health?deep=true")
      expect(dependenciesOf(body).filter((line) => JSON.stringify(line).includes("\"ok\":false"))).toEqual([])
      expect(body).toMatchObject({ status: "ok" })
    }))

  it.scopedLive("looks up on Coolify what the settings name there", () =>
    Effect.gen(function*() {
      const world = yield* makeCoolifyWorld
      const settings = yield* must(() => readFile(world.settingsFile, "utf8"))
      const { request } = yield* startService(world.settingsFile)
      const named = (name: string, detail: string) => expect.objectContaining({ name, ok: true, detail })
      expect(dependenciesOf((yield* request("GET", "/api/health?deep=true")).body)).toEqual(expect.arrayContaining([
        named("platform.projectUuid", "it is the platform's project \"the one called project-sandbox\""),
        named("platform.privateKeyUuid", "it is the platform's deploy key \"the one called key-sandbox\"")
      ]))
      const wrong = settings.replace("project-sandbox", "project-gone").replace("key-sandbox", "key-gone")
      yield* must(() => writeFile(world.settingsFile, wrong))
      const { body } = yield* request("GET", "/api/health?deep=true")
      const failed = (name: string, detail: string) =>
        expect.objectContaining({ name, ok: false, detail, fix: expect.stringContaining(`Set ${name} in `) })
      expect(dependenciesOf(body)).toEqual(expect.arrayContaining([
        failed("platform.projectUuid", "the platform has no project \"project-gone\""),
        failed("platform.privateKeyUuid", "the platform has no deploy key \"key-gone\"")
      ]))
    }))

  it.scopedLive("says of the settings that upserts need what is missing or wrong, and how to mend it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const settings = yield* must(() => readFile(world.settingsFile, "utf8"))
      const without = settings.replace(/^ +(projectUuid|privateKeyUuid|webhookSecret|targetIp): .*\n/gm, "")
        .replace(/defaultServerUuid: .*/, "defaultServerUuid: nowhere")
      yield* must(() => writeFile(world.settingsFile, without))
      const { request } = yield* startService(world.settingsFile)
      const { body } = yield* request("GET", "/api/health?deep=true")
      expect(body).toMatchObject({ status: "degraded" })
      const failed = (name: string, detail: string) =>
        expect.objectContaining({ name, ok: false, detail, fix: expect.stringContaining(`Set ${name} in `) })
      expect(dependenciesOf(body)).toEqual(expect.arrayContaining([
        failed("platform.projectUuid", "it is not set"),
        failed("platform.privateKeyUuid", "it is not set"),
        failed("gitHost.webhookSecret", "it is not set"),
        failed("proxy.targetIp", "it is not set"),
        failed("platform.defaultServerUuid", "the platform has no server \"nowhere\"")
      ]))
    }))

  it.scopedLive("tells what nobody has set up from what fails", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("projects: { root: /tmp }\n")
      const { request } = yield* startService(file)
      const marked = Effect.gen(function*() {
        const lines = dependenciesOf((yield* request("GET", "/api/health?deep=true")).body)
        return lines.flatMap((line) => {
          const { name, ok, setUp }: { readonly name?: unknown; readonly ok?: unknown; readonly setUp?: unknown } =
            Object(line)
          return ok === true ? [] : [[name, setUp]]
        })
      })
      const unused = (yield* marked).map(([name]) => name)
      expect(unused).toEqual([
        "platform",
        "git host",
        "proxy file",
        "platform.defaultServerUuid",
        "platform.projectUuid",
        "platform.privateKeyUuid",
        "gitHost.webhookSecret",
        "proxy.targetIp"
      ])
      expect(yield* marked).toEqual(unused.map((name) => [name, false]))
      const begun = "projects: { root: /tmp }\nplatform: { token: a-token }\ngitHost: { owner: ann }\n"
      yield* must(() => writeFile(file, begun))
      expect(yield* marked).toEqual(
        unused.map((name) => [name, String(name).startsWith("proxy") ? false : undefined])
      )
    }))

  it.scopedLive("tells a settings file that does not exist from one that says nothing", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      const { request } = yield* startService(file)
      const settings = Effect.map(
        request("GET", "/api/health?deep=true"),
        ({ body }) => dependenciesOf(body).find((line) => JSON.stringify(line).includes("\"name\":\"settings\""))
      )
      expect(yield* settings).toMatchObject({ ok: true, detail: file })
      yield* must(() => rm(file))
      expect(yield* settings).toMatchObject({
        ok: false,
        setUp: false,
        detail: `${file} does not exist yet: all settings are the defaults`,
        fix: expect.stringContaining("berth server add")
      })
      yield* must(() => writeFile(file, "projects: { root: /tmp }\n"))
      expect(yield* settings).toMatchObject({ ok: true, detail: file })
    }))

  it.scopedLive("counts a directory of projects that nobody has named nor created as not set up", () =>
    Effect.gen(function*() {
      const home = yield* temporaryHome
      const file = join(home, ".config/berth/berth.yaml")
      const { request } = yield* startService(file)
      const lines = Effect.map(request("GET", "/api/health?deep=true"), ({ body }) => dependenciesOf(body))
      const missing = join(home, "projects")
      const failed = (line: unknown) => {
        const { ok, setUp }: { readonly ok?: unknown; readonly setUp?: unknown } = Object(line)
        return ok !== true && setUp !== false
      }
      const fresh = yield* lines
      expect(fresh.filter(failed)).toEqual([])
      expect(fresh).toContainEqual(expect.objectContaining({
        name: "projects",
        setUp: false,
        detail: expect.stringContaining(`${missing} does not exist yet`),
        fix: expect.stringContaining("berth settings set projects.root DIRECTORY --create")
      }))
      yield* must(() => mkdir(missing))
      expect(yield* lines).toContainEqual(expect.objectContaining({ name: "projects", ok: true, detail: missing }))
      yield* must(() => mkdir(join(home, ".config/berth"), { recursive: true }))
      yield* must(() => writeFile(file, "projects: { root: ~/elsewhere }\n"))
      expect((yield* lines).filter(failed)).toEqual([
        expect.objectContaining({ name: "projects", detail: `${join(home, "elsewhere")} does not exist` })
      ])
    }))

  it.scopedLive("does not call a proxy file fine that Berth cannot edit", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const odd = [["[http.routers.app]\n  rule = \"x\"\n", /TOML/], ["http: [\n", /not valid YAML/]] as const
      for (const [text, reason] of odd) {
        yield* must(() => writeFile(world.proxyFile, text))
        const { body } = yield* request("GET", "/api/health?deep=true")
        expect(dependenciesOf(body)).toContainEqual(expect.objectContaining({
          name: "proxy file",
          ok: false,
          detail: expect.stringMatching(reason),
          fix: expect.any(String)
        }))
      }
    }))

  it.scopedLive("has a line for everything, and changes nothing to write it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const before = yield* must(() => stat(world.proxyFile))
      const { body, status } = yield* request("GET", "/api/health?deep=true")
      expect(status).toBe(200)
      const lines = dependenciesOf(body)
      expect(lines).toEqual([
        expect.objectContaining({ name: "settings", ok: true }),
        expect.objectContaining({ name: "projects", ok: true }),
        expect.objectContaining({ name: "platform", ok: true }),
        expect.objectContaining({ name: "git host", ok: true }),
        expect.objectContaining({ name: "proxy file", ok: true }),
        expect.objectContaining({
          name: "platform.defaultServerUuid",
          ok: true,
          detail: expect.stringContaining("lan")
        }),
        ...["platform.projectUuid", "platform.privateKeyUuid", "gitHost.webhookSecret", "proxy.targetIp"].map((name) =>
          expect.objectContaining({ name, ok: true })
        ),
        expect.objectContaining({
          name: "history of runs",
          ok: true,
          detail: expect.stringMatching(/berth\.db can be written, and takes \d+ MiB$/)
        }),
        expect.objectContaining({
          name: "free disk",
          ok: true,
          detail: expect.stringMatching(/\d MiB free .*projects, .*\d MiB free /)
        }),
        expect.objectContaining({
          name: "server Sandbox",
          ok: true,
          detail: expect.stringMatching(/^Docker .*compose /)
        })
      ])
      for (const line of lines) expect(line).toHaveProperty("latencyMs", expect.any(Number))
      expect((yield* must(() => stat(world.proxyFile))).mtimeMs).toBe(before.mtimeMs)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("says what to mend, one sentence each, and keeps the rest", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const settings = yield* must(() => readFile(world.settingsFile, "utf8"))
      yield* must(() =>
        writeFile(
          world.settingsFile,
          settings.replace(/token: platform-\w+/, "token: wrong").replace(/password: .*/, "password: wrong")
        )
      )
      yield* must(() => chmod(world.settingsFile, 0o600))
      const { request } = yield* startService(world.settingsFile)
      const { body, text } = yield* request("GET", "/api/health?deep=true")
      const lines = dependenciesOf(body)
      expect(lines).toContainEqual(expect.objectContaining({ name: "platform", ok: false, fix: expect.any(String) }))
      expect(lines).toContainEqual(
        expect.objectContaining({ name: "server Sandbox", ok: false, detail: expect.stringMatching(/authentication/) })
      )
      expect(body).toMatchObject({ status: "degraded" })
      for (const line of lines) {
        const { ok, fix }: { readonly ok?: unknown; readonly fix?: unknown } = Object(line)
        expect(ok === true || typeof fix === "string", JSON.stringify(line)).toBe(true)
      }
      expect(text).not.toContain("wrong\"")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.skipIf(process.platform === "win32")(
    "finds a docker-compose that is there and does not run",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const { bin } = world.standIns
        const only = "#!/bin/sh\n[ \"$1\" != compose ] || exit 1\nexec \"${0%/*}/docker-itself\" \"$@\"\n"
        yield* must(() => rename(join(bin, "docker"), join(bin, "docker-itself")))
        yield* must(() => writeFile(join(bin, "docker"), only, { mode: 0o755 }))
        yield* must(() => writeFile(join(bin, "docker-compose"), "#!/bin/false python3\n", { mode: 0o755 }))
        const { request } = yield* startService(world.settingsFile)
        const { body } = yield* request("GET", "/api/health?deep=true")
        expect(dependenciesOf(body)).toContainEqual(
          expect.objectContaining({ name: "server Sandbox", ok: false, fix: expect.stringMatching(/neither/) })
        )
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("answers while the settings do not parse, and touches nothing unless asked", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith("servers: [\n"))
      const deep = yield* request("GET", "/api/health?deep=true")
      expect(dependenciesOf(deep.body)).toContainEqual(
        expect.objectContaining({ name: "settings", ok: false, detail: expect.stringMatching(/berth\.yaml:\d+/) })
      )
      const wrong = yield* settingsFileWith("deploy:\n  pull: maybe\n  keepReleases: none\nprojcts: {}\n")
      const told = yield* (yield* startService(wrong)).request("GET", "/api/health?deep=true")
      expect(dependenciesOf(told.body)).toContainEqual(
        expect.objectContaining({
          name: "settings",
          ok: false,
          detail: expect.stringMatching(/yaml:2: deploy\.pull [^]*yaml:3: deploy\.keepReleases [^]*yaml:4: projcts /),
          fix: "Correct the settings file where the detail says"
        })
      )
      const plain = yield* request("GET", "/api/health")
      expect(plain.body).toEqual({ status: "ok", version, uptimeSeconds: expect.any(Number) })
    }))
})
