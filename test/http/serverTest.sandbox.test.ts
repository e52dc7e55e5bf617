import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readdir, readFile } from "node:fs/promises"
import { dirname } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"

describe("the connection test over HTTP", () => {
  it.scopedLive("shows the key of a new server first, and stores and remembers nothing", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const directory = dirname(world.settingsFile)
      const kept = Effect.promise(async () => ({
        settings: await readFile(world.settingsFile, "utf8"),
        hostKeys: (await readdir(directory)).filter((name) => name.includes("known_hosts"))
      }))
      const before = yield* kept
      const { request } = yield* startService(world.settingsFile)
      const { fingerprint, host, password, port, username } = world.server
      const body = { name: "Attic", host, port, username, useSudo: true, password: Redacted.value(password) }
      const test = (more: object) => request("POST", "/api/servers/test", { ...body, ...more })
      expect(yield* test({})).toMatchObject({
        status: 200,
        body: { ready: false, hostKey: { fingerprint, standing: "new", remembered: null }, logIn: { ok: null } }
      })
      expect(yield* test({ hostKey: fingerprint })).toMatchObject({
        status: 200,
        body: { ready: true, hostKey: { standing: "new" }, logIn: { ok: true }, docker: { ok: true } }
      })
      const wrong = yield* test({ hostKey: fingerprint, password: "wrong-password" })
      expect(wrong).toMatchObject({ status: 200, body: { ready: false, logIn: { ok: false }, docker: { ok: null } } })
      expect(wrong.text).not.toContain("wrong-password")
      expect(yield* kept).toEqual(before)
      // Of a stored server, the stored credentials are tried.
      yield* request("GET", `/api/servers/${world.serverId}/containers`)
      const { password: _, ...stored } = { ...body, id: world.serverId }
      expect(yield* request("POST", "/api/servers/test", stored)).toMatchObject({
        body: { ready: true, hostKey: { standing: "known" } }
      })
      expect(yield* test({ hostKey: "12:34" })).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining("hostKey must be a fingerprint as ssh-keygen -l prints it") }
      })
      expect(yield* request("POST", "/api/servers/test", { ...stored, id: "none" })).toMatchObject({ status: 404 })
    }), 30_000 * patience)

  it.scopedLive("blames the request for the jump hosts that it names, and needs no others", () =>
    Effect.gen(function*() {
      const broken =
        "servers:\n  - { id: i, name: I, host: 127.0.0.1, port: 1, username: u, jump: \"${env:BERTH_NO_JUMP}\" }\n"
      const { request } = yield* startService(yield* settingsFileWith(broken))
      const body = { name: "Attic", host: "127.0.0.1", port: 1, username: "u" }
      const test = (more: object) => request("POST", "/api/servers/test", { ...body, ...more })
      const circle = Array.from({ length: 9 }, () => "a").join(",")
      for (const jump of ["nc -x proxy", circle, "a:0"]) {
        expect(yield* test({ jump })).toMatchObject({
          status: 400,
          body: { error: expect.stringContaining("jump must be [user@]host[:port]") }
        })
      }
      expect(yield* test({ id: "i" })).toMatchObject({
        status: 500,
        body: { error: expect.stringContaining("BERTH_NO_JUMP") }
      })
      // Replacing the stored jump hosts does not need them.
      for (const jump of [null, "", "v@127.0.0.1:2"]) {
        expect(yield* test({ id: "i", jump })).toMatchObject({
          status: 200,
          body: { hostKey: null, logIn: { ok: false, detail: expect.stringContaining("connection refused") } }
        })
      }
      const stored = yield* request("POST", "/api/servers", { ...body, id: "i" })
      expect(stored).toMatchObject({ status: 200, body: { server: { jump: "${env:BERTH_NO_JUMP}" } } })
      const cleared = yield* request("POST", "/api/servers", { ...body, id: "i", jump: null })
      expect(cleared).toMatchObject({
        status: 200,
        body: { server: expect.not.objectContaining({ jump: expect.anything() }) }
      })
    }))

  it.scopedLive(
    "stores a server with the key that was confirmed, and lets no other one in",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const { request } = yield* startService(world.settingsFile)
        const { fingerprint, password, port, username } = world.server
        const stored = { name: "Attic", port, username, useSudo: true, password: Redacted.value(password) }
        const connected = (host: string, hostKey: string) =>
          Effect.gen(function*() {
            const { body } = yield* request("POST", "/api/servers", { ...stored, host, hostKey })
            expect(body).toMatchObject({ success: true, server: { host } })
            const { server: { id } } = body as { readonly server: { readonly id: string } }
            return yield* request("GET", `/api/servers/${id}/containers`)
          })
        const other = `SHA256:${"A".repeat(43)}`
        expect(yield* connected("localhost", other)).toMatchObject({
          status: 500,
          body: {
            error: expect.stringContaining(`is ${fingerprint}, and the settings require ${other}. Nothing was sent`)
          }
        })
        expect(yield* connected("127.0.0.1", fingerprint)).toMatchObject({ status: 200 })
        const kept = yield* Effect.promise(() => readFile(world.settingsFile, "utf8"))
        expect(kept).toContain(`hostKey: "${fingerprint}"`)
      }),
    30_000 * patience
  )
})
