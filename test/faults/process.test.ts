import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schedule } from "effect"
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { parse } from "yaml"
import { makeImageArchive } from "../../src/sandbox/projects.ts"
import { makeWorld, type World } from "../../src/sandbox/world.ts"
import { spawnBerth, startBerth } from "../fixtures/berthProcess.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith } from "../fixtures/programs/service.ts"
import { type Answer, requestTo } from "../sandbox/request.ts"

const json = { "content-type": "application/json" }
const rounds = [20, 60, 140, 300]

/** Sends requests at once, kills the service after a while, and tells which of them were answered. */
const killedAmid = <A>(
  settingsFile: string,
  millis: number,
  items: ReadonlyArray<A>,
  send: (request: ReturnType<typeof requestTo>, item: A) => Effect.Effect<Answer, Error>
) =>
  Effect.scoped(Effect.gen(function*() {
    const berth = yield* startBerth(settingsFile)
    const request = requestTo(berth.url, json)
    yield* request("GET", "/api/servers")
    const fibers = yield* Effect.forEach(items, (item) =>
      Effect.fork(Effect.map(send(request, item), ({ status }) => status === 200 ? [item] : [])))
    yield* Effect.sleep(millis)
    yield* berth.kill("SIGKILL")
    const exits = yield* Effect.forEach(fibers, Fiber.await)
    return exits.flatMap((exit) =>
      Exit.isSuccess(exit) ? exit.value : []
    )
  }))

const soon = <A, E, R>(what: Effect.Effect<A, E, R>) =>
  Effect.retry(what, { schedule: Schedule.spaced("50 millis"), times: 1_200 })

const that = (holds: () => boolean, what: string) =>
  soon(Effect.suspend(() => holds() ? Effect.void : Effect.fail(new Error(`never: ${what}`))))

const deployOf = (world: World) => ({
  projectPath: join(world.projects, "hello"),
  serverId: world.serverId,
  remotePath: "~/containers/hello"
})
const holderFile = (world: World) => join(world.home, "containers", "hello", ".berth", "holder")
const isHeld = (world: World) => existsSync(holderFile(world)) && readFileSync(holderFile(world), "utf8").trim() !== ""

/**
 * A killed holder leaves its name at most: only the lock itself shows that it is free. It
 * goes with the directory that a failed first deploy made.
 */
const isFree = (world: World) => {
  const directory = dirname(holderFile(world))
  return !existsSync(directory) || spawnSync("flock", ["-n", join(directory, "lock"), "true"]).status === 0
}

/** Makes the archive of `hello` so big that sending it takes a while. */
const withBigArchive = (world: World, megabytes: number) =>
  Effect.sync(() =>
    writeFileSync(
      join(world.projects, "hello", "hello.tar"),
      makeImageArchive({ name: "hello:latest", layers: [{ hello: randomBytes(megabytes * 500_000).toString("hex") }] })
    )
  )

describe.skipIf(process.platform === "win32")("Berth killed with SIGKILL", () => {
  it.scopedLive(
    "in the middle of writes of the settings loses no answered one, and leaves a file that is whole",
    () =>
      Effect.gen(function*() {
        const file = yield* settingsFileWith("# mine\nprojects: { root: /tmp }\n")
        const answered: Array<string> = []
        for (const [round, millis] of rounds.entries()) {
          const names = Array.from({ length: 40 }, (_, index) => `s${round}-${index}`)
          answered.push(
            ...yield* killedAmid(
              file,
              millis,
              names,
              (request, name) => request("POST", "/api/servers", { name, host: "h", username: "u" })
            )
          )
          const text = readFileSync(file, "utf8")
          expect(text).toMatch(/^# mine\n/)
          const stored: ReadonlyArray<{ readonly name: string }> = parse(text).servers ?? []
          expect(stored.map(({ name }) => name)).toEqual(expect.arrayContaining(answered))
          expect(statSync(file).mode & 0o777).toBe(0o600)
        }
        const berth = yield* startBerth(file)
        const last = yield* requestTo(berth.url, json)("POST", "/api/servers", { name: "z", host: "h", username: "u" })
        expect(last.status).toBe(200)
      }),
    180_000 * patience
  )

  it.scopedLive(
    "in the middle of upserts leaves whole changelogs and a whole proxy file",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const changelog = join(world.projects, "hello", "platform.changelog.json")
        const upserts: Array<number> = []
        const routed: Array<string> = []
        for (const [round, millis] of [150, 400, 900, 1_600].entries()) {
          const items = Array.from({ length: 12 }, (_, index) => index)
          const done = yield* killedAmid(world.settingsFile, millis, items, (request, index) =>
            index % 2 === 0
              ? request("POST", "/api/platform/upsert", { projectPath: join(world.projects, "hello") })
              : request("POST", "/api/platform/routes", {
                routeName: `r${round}x${index}`,
                domain: `r${round}x${index}.sandbox.test`,
                port: 3_000 + round * 100 + index
              }))
          upserts.push(...done.filter((index) => index % 2 === 0))
          routed.push(...done.filter((index) => index % 2 === 1).map((index) => `r${round}x${index}`))
          if (existsSync(changelog)) {
            const entries: unknown = JSON.parse(readFileSync(changelog, "utf8"))
            expect(Array.isArray(entries) ? entries.length : 0).toBeGreaterThanOrEqual(upserts.length)
          }
          const { http } = parse(readFileSync(world.proxyFile, "utf8"))
          expect(Object.keys(http.services)).toEqual(expect.arrayContaining(["greeter", ...routed]))
          // No service without its router, no router without its service.
          for (const router of Object.values<{ service: string }>(http.routers)) {
            expect(http.services).toHaveProperty([router.service])
          }
        }
        const berth = yield* startBerth(world.settingsFile)
        const again = yield* requestTo(berth.url, json)("POST", "/api/platform/upsert", {
          projectPath: join(world.projects, "hello")
        })
        expect(again).toMatchObject({ status: 200, body: { success: true } })
      }),
    240_000 * patience
  )

  it.scopedLive(
    "in a deploy frees the lock on the server, and the next deploy goes through",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        yield* withBigArchive(world, 150)
        yield* Effect.scoped(Effect.gen(function*() {
          const berth = yield* startBerth(world.settingsFile)
          const deploy = yield* Effect.fork(
            Effect.exit(requestTo(berth.url, json)("POST", "/api/container/deploy", deployOf(world)))
          )
          yield* that(() => isHeld(world), "the lock is held")
          yield* berth.kill("SIGKILL")
          yield* Fiber.join(deploy)
        }))
        const before = Date.now()
        yield* that(() => isFree(world), "the lock is free")
        expect(Date.now() - before).toBeLessThan(10_000)
        const berth = yield* startBerth(world.settingsFile)
        const answer = yield* requestTo(berth.url, json)("POST", "/api/container/deploy", deployOf(world))
        expect(answer).toMatchObject({ status: 200, body: { success: true, healthy: true } })
        expect(existsSync(join(world.home, "containers", "hello", ".berth", "incoming"))).toBe(false)
      }),
    240_000 * patience
  )
})

describe.skipIf(process.platform === "win32")("Berth told to end with SIGTERM", () => {
  it.scopedLive(
    "in a deploy lets it finish, or undoes it, within 30 seconds, and frees the lock",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        yield* withBigArchive(world, 100)
        const berth = yield* startBerth(world.settingsFile)
        const deploy = yield* Effect.fork(
          requestTo(berth.url, json)("POST", "/api/container/deploy", deployOf(world))
        )
        yield* that(() => isHeld(world), "the lock is held")
        const before = Date.now()
        yield* berth.kill("SIGTERM")
        yield* berth.ended
        expect(Date.now() - before).toBeLessThan(35_000)
        expect(berth.output()).toMatch(/Waiting for the deploy of .*hello to finish\. Ctrl-C once more stops at once/)
        // The caller gets the answer, although nothing new is listened to any more.
        expect(yield* deploy).toMatchObject({ status: 200, body: { success: true } })
        yield* that(() => isFree(world), "the lock is free")
        const deployed = readdirSync(join(world.home, "containers", "hello"))
        expect(deployed).toContain("compose.yml")
        expect(existsSync(join(world.home, "containers", "hello", ".berth", "incoming"))).toBe(false)
      }),
    180_000 * patience
  )
})

describe.skipIf(process.platform === "win32")("a caller who goes away", () => {
  it.scopedLive("in the middle of a deploy does not end it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* withBigArchive(world, 60)
      const berth = yield* startBerth(world.settingsFile)
      const request = requestTo(berth.url, json)
      const deploy = yield* Effect.fork(request("POST", "/api/container/deploy", deployOf(world)))
      yield* that(() => isHeld(world), "the lock is held")
      yield* Fiber.interrupt(deploy)
      const running = Effect.flatMap(request("GET", `/api/servers/${world.serverId}/containers`), ({ body }) =>
        JSON.stringify(body).includes("\"hello\"") ? Effect.void : Effect.fail(new Error("hello does not run")))
      yield* soon(running)
      yield* that(() =>
        isFree(world), "the lock is free")
      expect(readdirSync(join(world.home, "containers", "hello"))).toContain("compose.yml")
    }), 180_000 * patience)
})

describe("starting", () => {
  it.scopedLive("on a port in use ends with one sentence", () =>
    Effect.gen(function*() {
      const port = yield* Effect.acquireRelease(
        Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
          const server = createServer().listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" && address !== null ? address.port : 0
            resume(Effect.succeed({ port, close: () => void server.close() }))
          })
        }),
        ({ close }) => Effect.sync(close)
      )
      const file = yield* settingsFileWith("")
      const berth = yield* spawnBerth({ BERTH_CONFIG: file, BERTH_PORT: String(port.port) })
      expect(yield* berth.ended).toMatchObject({ code: 1 })
      expect(berth.output()).toContain(`Cannot listen on 127.0.0.1:${port.port}: the port is in use`)
      expect(berth.output()).not.toMatch(/\n\s+at /)
    }))

  it.scopedLive("beyond this machine without a token is refused", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      const berth = yield* spawnBerth({ BERTH_CONFIG: file, BERTH_HOST: "0.0.0.0", BERTH_PORT: "1" })
      expect(yield* berth.ended).toMatchObject({ code: 1 })
      expect(berth.output()).toContain("Refusing to listen on 0.0.0.0")
    }))
})
