import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod, readFile, rename, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { settingsFileWith, startService } from "../../fixtures/service.ts"

const dependenciesOf = (body: unknown): ReadonlyArray<unknown> =>
  body !== null && typeof body === "object" && "dependencies" in body && Array.isArray(body.dependencies)
    ? body.dependencies
    : []

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

describe("deep health", { timeout: 60_000 }, () => {
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
        expect.objectContaining({ name: "platform", ok: true }),
        expect.objectContaining({ name: "git host", ok: true }),
        expect.objectContaining({ name: "proxy file", ok: true }),
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
      expect(lines).toContainEqual(expect.objectContaining({ name: "platform", ok: false, help: expect.any(String) }))
      expect(lines).toContainEqual(
        expect.objectContaining({ name: "server Sandbox", ok: false, detail: expect.stringMatching(/authentication/) })
      )
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
          expect.objectContaining({ name: "server Sandbox", ok: false, help: expect.stringMatching(/neither/) })
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
      const plain = yield* request("GET", "/api/health")
      expect(plain.body).toEqual({ status: "ok", version: "2.0.0", uptimeSeconds: expect.any(Number) })
    }))
})
