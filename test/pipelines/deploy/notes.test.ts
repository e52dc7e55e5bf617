import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { imageArchive } from "../../../src/sandbox/imageArchive.ts"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { startService } from "../../fixtures/service.ts"

describe.skipIf(!existsSync("/dev/full"))("a deploy that cannot note what runs", () => {
  it.scopedLive.each(["files", "names", "old", "running"])(
    "for want of room for %s begins nothing",
    (note) =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const { request } = yield* startService(world.settingsFile)
        const deploy = request("POST", "/api/container/deploy", {
          projectPath: join(world.projects, "hello"),
          serverId: world.serverId,
          remotePath: "~/containers/hello"
        })
        expect((yield* deploy).body).toMatchObject({ healthy: true })
        const notes = join(world.home, "containers", "hello", ".berth")
        const layers = [{ hello: "another" }]
        writeFileSync(join(world.projects, "hello", "hello.tar"), imageArchive({ name: "hello:latest", layers }))
        writeFileSync(join(world.projects, "hello", ".env"), "HOST_PORT=2009\n")
        rmSync(join(notes, note))
        symlinkSync("/dev/full", join(notes, note))
        const calls = (yield* world.standIns.dockerCalls).length
        const failed = yield* deploy
        expect(failed.status).toBe(500)
        expect(failed.text).toMatch(/Deploy failed at load: .*(No space left on device|could not be noted)/)
        const asked = (yield* world.standIns.dockerCalls).slice(calls).map(({ args }) => args.join(" "))
        expect(asked.filter((line) => /compose .*(up|down|stop)/.test(line))).toEqual([])
        expect((yield* request("GET", `/api/servers/${world.serverId}/containers`)).text).toContain("\"hello\"")
        for (const name of ["incoming", "staged", "previous"]) expect(readdirSync(notes)).not.toContain(name)

        rmSync(join(notes, note))
        expect((yield* deploy).body).toMatchObject({ healthy: true })
      })
  )
})
