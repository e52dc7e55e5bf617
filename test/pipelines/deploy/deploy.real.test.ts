import { describe, expect, it } from "@effect/vitest"
import { Array, Duration, Effect, Fiber, Layer } from "effect"
import { existsSync } from "node:fs"
import { copyFile, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer, withSudo } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { eventually } from "../../sandbox/eventually.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

const title = realServer.title("deploy to a real server")

describe.skipIf(!realServer.available)(title, { timeout: 120_000 * patience }, () => {
  for (const useSudo of withSudo) {
    it.scopedLive(`brings a project up, and its next version, ${useSudo ? "through sudo" : "as a docker user"}`, () =>
      Effect.gen(function*() {
        const { server, user } = yield* onServer(useSudo)
        const { answer, build, compose, directory, name, usual } = yield* project
        const remotePath = `~/containers/${name} with a space`
        const request = { projectPath: directory, serverId: server.id, remotePath }
        yield* build("one")
        yield* Effect.gen(function*() {
          const first = yield* deploy(request)
          expect(first).toMatchObject({ success: true, healthy: true, status: "healthy" })
          expect([...first.uploadedFiles].sort()).toEqual([".env", `${name}.tar`, "compose.yml"])
          expect(yield* answer).toBe("one")

          yield* build("two")
          yield* must(() => writeFile(join(directory, "web.env"), "A=1\n"))
          yield* compose([...usual, "env_file: [web.env]", "labels: { a: \"$BERTH_TEST_UNSET\" }"])
          const second = yield* deploy(request)
          expect([...second.uploadedFiles].sort()).toEqual([`${name}.tar`, "compose.yml", "web.env"])
          expect(second.message).toMatch(/Compose warns: The \\?"?BERTH_TEST_UNSET\\?"? variable is not set/)
          expect(second.message).not.toContain("obsolete")
          expect(yield* answer).toBe("two")

          yield* must(() => rm(join(directory, "web.env")))
          yield* compose(usual)
          const third = yield* deploy(request)
          expect(third.message).toMatch(/ Removed from the server, no longer in the project: web\.env\.$/)
          expect(yield* answer).toBe("two")
        }).pipe(Effect.provide(berth(server)))

        const remote = join(user.home, "containers", `${name} with a space`)
        expect(existsSync(join(remote, "web.env"))).toBe(false)
        expect((yield* must(() => stat(join(remote, ".env")))).mode & 0o777).toBe(0o600)
        expect(yield* must(() => readFile(join(remote, "compose.yml"), "utf8"))).toContain(`image: ${name}`)
        expect(yield* must(() => readdir(join(remote, ".berth")))).not.toContain("incoming")
      }))
  }

  it.scopedLive("keeps the old version when a step of the next one fails, and says why", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(true)
      const { answer, archive, build, compose, directory, image, name, usual } = yield* project
      const remotePath = `~/containers/${name}`
      const remote = join(user.home, "containers", name)
      const attempt = deploy({ projectPath: directory, serverId: server.id, remotePath })
      yield* build("old")
      yield* Effect.gen(function*() {
        yield* attempt
        const running = yield* docker("ps", "--filter", `ancestor=${image}`, "--format", "{{.Names}}")
        const filesBefore = yield* must(() => readdir(remote))

        yield* build("new")
        yield* must(() => copyFile(archive, `${archive}.whole`))
        yield* must(() => truncate(archive, 50_000))
        const corrupt = yield* Effect.flip(attempt)
        expect(corrupt.message).toMatch(/^Deploy failed at load: .*EOF/)
        expect(corrupt.message).toContain(`${name}.tar is cut short, or not an image archive: build it again`)
        expect(corrupt.message).toMatch(/\. The previous version is still running$/)
        expect(corrupt).toMatchObject({ status: 500 })
        expect(yield* answer).toBe("old")

        yield* must(() => copyFile(`${archive}.whole`, archive))
        yield* compose([...usual, "volumes: [\"/dev/null:/www\"]"])
        const broken = yield* Effect.flip(attempt)
        expect(broken.message).toMatch(/^Deploy failed at start: [^]*\. The previous version is running again$/)
        expect(yield* answer).toBe("old")
        expect(yield* docker("ps", "--filter", `ancestor=${image}`, "--format", "{{.Names}}")).toBe(running)
        expect(yield* must(() => readFile(join(remote, "compose.yml"), "utf8"))).not.toContain("/dev/null")
        expect(yield* must(() => readdir(remote))).toEqual(filesBefore)

        yield* compose(usual)
        expect(yield* attempt).toMatchObject({ healthy: true })
        expect(yield* answer).toBe("new")
      }).pipe(Effect.provide(berth(server)))
    }))

  it.scopedLive("leaves nothing running when a first deploy does not start", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(false)
      const { build, compose, directory, image, name, usual } = yield* project
      yield* build("never")
      yield* compose([...usual, "volumes: [\"/dev/null:/www\"]"])
      const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
      const failed = yield* Effect.flip(deploy(request)).pipe(Effect.provide(berth(server)))
      expect(failed.message).toMatch(/^Deploy failed at start: [^]*\. Nothing was running before and nothing is now$/)
      expect(yield* docker("ps", "-aq", "--filter", `ancestor=${image}`)).toBe("")
      yield* eventually(Effect.sync(() => !existsSync(join(user.home, "containers", name))))
    }))

  it.scopedLive("tells a stack that does not become healthy from one that does", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(false)
      const { build, compose, directory, image, name, usual } = yield* project
      const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
      const deployed = deploy(request)
      yield* must(() => writeFile(join(directory, "container.json"), JSON.stringify({ healthTimeout: "3 seconds" })))
      yield* Effect.gen(function*() {
        const ill = "--interval=1s --retries=1 CMD [\"/bin/busybox\", \"sh\", \"-c\", \"echo ill; exit 1\"]"
        yield* build("sick", { healthcheck: `HEALTHCHECK ${ill}` })
        const [waited, sick] = yield* Effect.timed(deployed)
        expect(sick).toMatchObject({ success: true, healthy: false, status: "unhealthy" })
        expect(sick.message).toMatch(
          /web.* is unhealthy[^\n]*\n\S*web\S*: its health check ended with 1: ill\n\S*web\S* \(running\)/
        )
        expect(Duration.toSeconds(waited)).toBeLessThan(30 * patience)

        yield* build("well", { healthcheck: "HEALTHCHECK --interval=1s CMD [\"/bin/busybox\", \"true\"]" })
        expect(yield* deployed).toMatchObject({ success: true, healthy: true, status: "healthy" })

        yield* compose(usual, ["  once:", `    image: ${image}`, "    command: [\"/bin/busybox\", \"true\"]", ...quiet])
        expect(yield* deployed).toMatchObject({ healthy: true, status: "healthy" })

        yield* compose(usual, [
          "  once:",
          `    image: ${image}`,
          "    command: [\"/bin/busybox\", \"false\"]",
          ...quiet
        ])
        const exited = yield* deployed
        expect(exited).toMatchObject({ success: false, healthy: false, status: "unhealthy" })
        expect(exited.message).toMatch(
          /once.* exited with code 1\. Release 3, which ran before, runs again and is healthy\. [^]*\n\S*once\S* \(exited, exit code 1\), has logged nothing$/
        )
        const kept = yield* deploy({ ...request, onUnhealthy: "keep" })
        expect(kept).toMatchObject({ success: true, healthy: false, status: "exited" })
      }).pipe(Effect.provide(berth(server)))
    }))

  it.scopedLive("does one deploy to a path at a time, and names another process that is at it", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(false)
      const { answer, build, directory, name } = yield* project
      yield* build("one")
      const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
      const mine = yield* Layer.build(berth(server))
      const other = yield* Layer.build(berth(server))

      const both = yield* Effect.all([
        deploy(request),
        deploy({ ...request, remotePath: `~/containers//${name}/` })
      ], { concurrency: 2 }).pipe(Effect.provide(mine))
      expect(both.map(({ healthy }) => healthy)).toEqual([true, true])

      // The first to take the path wins, and the other is refused; repeated until they meet.
      const [refused, served] = yield* Effect.all(
        [mine, other].map((by) => Effect.provide(Effect.either(deploy(request)), by)),
        { concurrency: 2 }
      ).pipe(
        Effect.map(Array.separate),
        Effect.repeat({ until: ([refused]) => refused.length > 0, times: 20 })
      )
      expect(refused).toMatchObject([
        { _tag: "DeployLocked", status: 409, holder: expect.stringMatching(/process \d+, since/) }
      ])
      expect(served).toMatchObject([{ healthy: true }])
      expect(yield* answer).toBe("one")
    }))

  it.scopedLive("never shows the password, in an error or among the server's processes", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(true)
      const { build, directory, name } = yield* project
      yield* build("one")
      const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
      const watched = yield* Effect.fork(
        Effect.forever(must(async () => {
          const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))
          const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")))
          expect(lines.filter((line) => line.includes(user.password))).toEqual([])
        }))
      )
      expect(yield* deploy(request).pipe(Effect.provide(berth(server)))).toMatchObject({ healthy: true })
      expect(watched.unsafePoll()).toBeNull()
      yield* Fiber.interrupt(watched)
    }))
})

const quiet = ["    stop_signal: SIGKILL"]
