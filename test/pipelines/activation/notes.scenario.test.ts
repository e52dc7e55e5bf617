import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeImageArchive } from "../../../src/sandbox/projects.ts"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { startService } from "../../fixtures/programs/service.ts"

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
        writeFileSync(join(world.projects, "hello", "hello.tar"), makeImageArchive({ name: "hello:latest", layers }))
        writeFileSync(join(world.projects, "hello", ".env"), "HOST_PORT=2009\n")
        rmSync(join(notes, note))
        symlinkSync("/dev/full", join(notes, note))
        const calls = (yield* world.standIns.dockerCalls).length
        const failed = yield* deploy
        expect(failed.status).toBe(500)
        expect(failed.text).toMatch(/Deploy failed at load: .*(No space left on device|could not be noted)/)
        expect(failed.text).not.toContain("Nothing was running")
        const asked = (yield* world.standIns.dockerCalls).slice(calls).map(({ args }) => args.join(" "))
        expect(asked.filter((line) => /compose .*(up|down|stop)/.test(line))).toEqual([])
        expect((yield* request("GET", `/api/servers/${world.serverId}/containers`)).text).toContain("\"hello\"")
        for (const name of ["incoming", "staged", "previous"]) expect(readdirSync(notes)).not.toContain(name)

        rmSync(join(notes, note))
        expect((yield* deploy).body).toMatchObject({ healthy: true })
      })
  )
})

describe("the containers of a stack", () => {
  it.scopedLive("are those of its project, also where another one was started in the same directory", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.standIns.setFlaw("docker-needs-root", false)
      const { request } = yield* startService(world.settingsFile)
      const docker = (...args: ReadonlyArray<string>) =>
        execFileSync("docker", args, {
          encoding: "utf8",
          env: { ...process.env, ...world.standIns.env, PATH: `${world.standIns.bin}:${process.env["PATH"] ?? ""}` }
        }).trim().split("\n")
      const projectPath = join(world.projects, "hello")
      const place = join(world.home, "containers", "hello")
      const deployAs = (project: string) => {
        writeFileSync(
          join(projectPath, "compose.yml"),
          `name: ${project}\nservices:\n  web:\n    image: hello:latest\n    env_file: .env\n`
        )
        return request("POST", "/api/container/deploy", {
          projectPath,
          serverId: world.serverId,
          remotePath: "~/containers/hello"
        })
      }
      expect((yield* deployAs("one")).body).toMatchObject({ healthy: true })
      expect(readFileSync(join(place, ".berth", "containers"), "utf8").trim().split("\n")).toHaveLength(1)
      docker("stop", "one-web-1")
      const [id = ""] = docker("ps", "-aq", "--no-trunc", "--filter", "name=one-web-1")
      const state = join(world.standIns.env.BERTH_SANDBOX_STATE, "docker", "containers", id)
      writeFileSync(state, readFileSync(state, "utf8").replace(/^code\t.*$/m, "code\t1"))
      expect((yield* deployAs("two")).body).toMatchObject({ healthy: true })
      expect(docker("ps", "-a", "--format", "{{.Names}}")).toEqual(expect.arrayContaining(["one-web-1", "two-web-1"]))

      docker("rm", "one-web-1")
      expect((yield* deployAs("two")).body).toMatchObject({ healthy: true })
      expect(readFileSync(join(place, ".berth", "containers"), "utf8").trim().split("\n")).toHaveLength(1)
    }))
})
