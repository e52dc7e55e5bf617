import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeImageArchive } from "../../src/sandbox/projects.ts"
import { makeWorld, type World } from "../../src/sandbox/world.ts"
import { liveHeap } from "../fixtures/programs/heap.ts"
import { startService } from "../fixtures/programs/service.ts"

const deployOf = (world: World) => ({
  projectPath: join(world.projects, "hello"),
  serverId: world.serverId,
  remotePath: "~/containers/hello"
})
const placeOf = (world: World) => join(world.home, "containers", "hello")

const that = (holds: () => boolean, what: string) =>
  Effect.retry(
    Effect.suspend(() => holds() ? Effect.void : Effect.fail(new Error(`never: ${what}`))),
    { schedule: Schedule.spaced("30 millis"), times: 2_000 }
  )

/** Makes the archive of `hello` another one. */
const newArchive = (world: World) =>
  Effect.sync(() =>
    writeFileSync(
      join(world.projects, "hello", "hello.tar"),
      makeImageArchive({ name: "hello:latest", layers: [{ hello: randomBytes(500_000).toString("hex") }] })
    )
  )

/** Puts a program before the server's docker: it gets the arguments, and calls the real one as `$docker`. */
const wrapDocker = (world: World, script: string) =>
  Effect.sync(() => {
    const docker = join(world.standIns.bin, "docker")
    const real = join(world.standIns.bin, "docker-real")
    if (!existsSync(real)) renameSync(docker, real)
    writeFileSync(docker, `#!/bin/sh\ndocker='${real}'\n${script}\nexec "$docker" "$@"\n`, { mode: 0o755 })
  })

const incoming = (world: World) => {
  const directory = join(placeOf(world), ".berth", "incoming")
  return existsSync(directory) && readdirSync(directory).length > 0
}

describe.skipIf(process.platform === "win32")("a connection that is cut", () => {
  it.scopedLive("in the middle of an upload fails the deploy in words, leaves nothing, and the next one goes through", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const project = join(world.projects, "hello")
      writeFileSync(join(project, "container.json"), JSON.stringify({ files: ["big.bin"] }))
      writeFileSync(join(project, "big.bin"), randomBytes(100_000_000))
      const deploy = yield* Effect.fork(request("POST", "/api/container/deploy", deployOf(world)))
      yield* that(() => existsSync(join(placeOf(world), ".berth", "incoming", "big.bin")), "the upload has begun")
      yield* world.server.cutConnections
      const answer = yield* Fiber.join(deploy)
      expect(answer.status).toBe(500)
      expect(answer.body).toEqual({ error: expect.stringMatching(/^Deploy failed at upload: .*lost/) })
      expect(existsSync(join(placeOf(world), "compose.yml"))).toBe(false)
      const again = yield* request("POST", "/api/container/deploy", deployOf(world))
      expect(again.body).toMatchObject({ success: true, healthy: true })
      expect(incoming(world)).toBe(false)
    }))

  it.scopedLive("in the middle of a load leaves the old version or the new one, whole and running", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      expect((yield* request("POST", "/api/container/deploy", deployOf(world))).body).toMatchObject({ healthy: true })
      yield* newArchive(world)
      const begun = join(world.home, "begun")
      yield* wrapDocker(world, `[ "$1" != load ] || { : >'${begun}'; sleep 1; }`)
      const deploy = yield* Effect.fork(request("POST", "/api/container/deploy", deployOf(world)))
      yield* that(() => existsSync(begun), "the load has begun")
      yield* world.server.cutConnections
      const answer = yield* Fiber.join(deploy)
      expect(answer.status).toBe(500)
      expect(answer.body).toEqual({ error: expect.stringMatching(/^Deploy failed at load: .*lost/) })
      // The server carries the activation through by itself; the next deploy waits for that, and finds the lock free.
      const containers = yield* request("GET", `/api/servers/${world.serverId}/containers`)
      expect(JSON.stringify(containers.body)).toContain("\"hello\"")
      expect((yield* request("POST", "/api/container/deploy", deployOf(world))).body).toMatchObject({ healthy: true })
    }))

  it.scopedLive("in the middle of a command fails the request in words, and the next one gets a new connection", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const begun = join(world.home, "begun")
      yield* wrapDocker(world, `[ "$1" != logs ] || [ -e '${begun}' ] || { : >'${begun}'; sleep 30; }`)
      const path = `/api/servers/${world.serverId}/logs?containerName=greeter`
      const logs = yield* Effect.fork(request("GET", path))
      yield* that(() => existsSync(begun), "the command runs")
      yield* world.server.cutConnections
      expect((yield* Fiber.join(logs)).body).toEqual({ error: expect.stringMatching(/^Failed to get logs: .*lost/) })
      expect((yield* request("GET", path)).status).toBe(200)
    }))
})

describe.skipIf(process.platform === "win32")("logs", () => {
  it.scopedLive("of 500 MB are cut to their end in bounded memory", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      yield* wrapDocker(
        world,
        "[ \"$1\" != logs ] || { yes 'a line of a log that never seems to end' | head -c 500000000; echo last; exit 0; }"
      )
      const before = yield* liveHeap
      const { body, status, text } = yield* request(
        "GET",
        `/api/servers/${world.serverId}/logs?containerName=greeter&lines=10000`
      )
      expect(status).toBe(200)
      expect(body).toMatchObject({ success: true, logs: expect.stringMatching(/last\n?$/) })
      expect(text.length).toBeLessThan(20_000_000)
      expect((yield* liveHeap) - before).toBeLessThan(60_000_000)
    }))

  it.scopedLive("that are no UTF-8 are still JSON, and repeat no password", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const secret = /^ {4}password: (\S+)$/m.exec(readFileSync(world.settingsFile, "utf8"))?.[1] ?? ""
      expect(secret).toMatch(/^password-/)
      yield* wrapDocker(
        world,
        `[ "$1" != logs ] || { printf 'a\\377\\300\\200b\\n'; echo "login ${secret}"; printf %s 'u:${secret}' | base64 -w 0; exit 0; }`
      )
      const { body, text } = yield* request("GET", `/api/servers/${world.serverId}/logs?containerName=greeter`)
      expect(body).toMatchObject({ success: true, logs: expect.stringContaining("a\uFFFD") })
      expect(text).not.toContain(secret)
      expect(text).not.toContain(Buffer.from(secret).toString("base64").slice(4, -4))
      yield* wrapDocker(world, `[ "$1" != ps ] || { echo "cannot log in with ${secret}" >&2; exit 1; }`)
      const failed = yield* request("GET", `/api/servers/${world.serverId}/containers`)
      expect(failed.body).toEqual({ error: "Failed to get containers: cannot log in with ***" })
    }))
})

describe.skipIf(process.platform === "win32")("deploys to one server", () => {
  it.scopedLive("to more directories at once than it has channels all end", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const answers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (number) =>
        request("POST", "/api/container/deploy", { ...deployOf(world), remotePath: `~/containers/hello${number}` }), {
        concurrency: "unbounded"
      })
      // All start one container name and port: one succeeds, the others fail with the reason.
      expect(
        answers.filter(({ status }) =>
          status === 200
        ).length
      ).toBeGreaterThanOrEqual(1)
      for (const { body, status } of answers) {
        if (status !== 200) {
          expect(body).toEqual({ error: expect.stringMatching(/^Deploy failed at (?:start|preflight: port \d+ )/) })
        }
      }
    }))
})
