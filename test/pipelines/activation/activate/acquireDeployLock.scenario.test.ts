import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parse, stringify } from "yaml"
import { acquireDeployLock } from "../../../../src/pipelines/activation/activate.ts"
import { makeWorld, type World } from "../../../../src/sandbox/world.ts"
import type { ServerAccess } from "../../../../src/schema/ssh.ts"
import { Instance, InstanceLive } from "../../../../src/services/runs/Runs.ts"
import { type AskedCommand, sshTest } from "../../../../src/testing/SshTest.ts"
import { patience } from "../../../fixtures/patience.ts"
import { startService } from "../../../fixtures/programs/service.ts"
import { eventually } from "../../../sandbox/eventually.ts"

const remotePath = "~/containers/hello"
const deployOf = (world: World, serverId = world.serverId) => ({
  projectPath: join(world.projects, "hello"),
  serverId,
  remotePath
})

/** Stores the world's server once more, under another of its names. */
const renamed = (world: World) =>
  Effect.sync(() => {
    const settings = parse(readFileSync(world.settingsFile, "utf8"))
    const [server] = settings.servers
    const other = { ...server, id: "renamed", name: "Renamed", host: "localhost" }
    writeFileSync(world.settingsFile, stringify({ ...settings, servers: [server, other] }))
    return other.id
  })

/** The world's settings in a file of their own: the runs recorded beside a settings file belong to one process. */
const ofAnotherProcess = (world: World) =>
  Effect.sync(() => {
    const directory = mkdtempSync(join(world.home, "another-"))
    const file = join(directory, "berth.yaml")
    copyFileSync(world.settingsFile, file)
    return file
  })

/** Blocks the next load of the server's docker until it is released. */
const pausing = (world: World) =>
  Effect.sync(() => {
    const docker = join(world.standIns.bin, "docker")
    renameSync(docker, `${docker}-real`)
    const [begun, go] = [join(world.home, "begun"), join(world.home, "go")]
    const wait = `: >'${begun}'; while [ -e '${begun}' ] && [ ! -e '${go}' ]; do sleep 0.02; done`
    writeFileSync(docker, `#!/bin/sh\n[ "$1" != load ] || { ${wait}; }\nexec '${docker}-real' "$@"\n`, { mode: 0o755 })
    return { hasBegun: Effect.sync(() => existsSync(begun)), goOn: Effect.sync(() => writeFileSync(go, "")) }
  })

describe.skipIf(process.platform === "win32")("the records of a deploy on a server", () => {
  it.scopedLive("are closed to its other users, whatever its umask", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      expect(process.umask() & 0o055).not.toBe(0o055)
      expect((yield* request("POST", "/api/container/deploy", deployOf(world))).status).toBe(200)
      expect(statSync(join(world.home, "containers", "hello", ".berth")).mode & 0o777).toBe(0o700)
    }), 60_000 * patience)
})

describe.skipIf(process.platform === "win32")("a second deploy to a path", () => {
  it.scopedLive("waits behind the first, under whatever name this process knows the server", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const other = yield* renamed(world)
      const { request } = yield* startService(world.settingsFile)
      const { goOn, hasBegun } = yield* pausing(world)
      const first = yield* Effect.fork(request("POST", "/api/container/deploy", deployOf(world)))
      yield* eventually(hasBegun)
      const second = yield* Effect.fork(request("POST", "/api/container/deploy", deployOf(world, other)))
      yield* Effect.sleep("1 second")
      expect(yield* Fiber.poll(second)).toMatchObject({ _tag: "None" })
      yield* goOn
      for (const each of [first, second]) expect((yield* Fiber.join(each)).body).toMatchObject({ healthy: true })
    }))

  it.scopedLive("is turned down behind another process, which is named", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const mine = yield* startService(world.settingsFile)
      const other = yield* startService(yield* ofAnotherProcess(world))
      const { goOn, hasBegun } = yield* pausing(world)
      const first = yield* Effect.fork(mine.request("POST", "/api/container/deploy", deployOf(world)))
      yield* eventually(hasBegun)
      const second = yield* other.request("POST", "/api/container/deploy", deployOf(world))
      expect([second.status, second.body]).toEqual([
        409,
        { error: expect.stringMatching(new RegExp(`process ${process.pid}, since 20\\d\\d-`)) }
      ])
      yield* goOn
      expect((yield* Fiber.join(first)).body).toMatchObject({ healthy: true })
      expect((yield* other.request("POST", "/api/container/deploy", deployOf(world))).status).toBe(200)
    }))
})

describe("a server that says for ever who has the lock", () => {
  const main: ServerAccess = {
    id: "1",
    name: "Main",
    host: "main.test",
    port: 22,
    username: "deployer",
    useSudo: false,
    credentials: {}
  }
  const holding = (answer: (asked: AskedCommand) => string) =>
    Effect.gen(function*() {
      let attempts = 0
      const ssh = sshTest({
        "taking the deploy lock": (asked) => {
          attempts += 1
          return { code: 75, stdout: `${answer(asked)}\n` }
        }
      })
      const waiting = yield* Effect.fork(
        Effect.flip(Effect.provide(acquireDeployLock({ server: main, remotePath: "~/app" }), ssh))
      )
      return { attempts: () => attempts, waiting }
    })

  it.scoped("is not asked for longer than a minute when it names who asks", () =>
    Effect.gen(function*() {
      const { attempts, waiting } = yield* holding(({ args }) => args[1] ?? "")
      yield* TestClock.adjust("59 seconds")
      expect(yield* Fiber.poll(waiting)).toMatchObject({ _tag: "None" })
      yield* TestClock.adjust("10 seconds")
      expect((yield* Fiber.join(waiting))._tag).toBe("DeployLocked")
      expect(attempts()).toBeLessThan(30)
    }).pipe(Effect.provide(InstanceLive)))

  it.scoped("is not asked for longer than half an hour when it names another deploy of this process", () =>
    Effect.gen(function*() {
      const other = yield* (yield* Instance).hold
      const { waiting } = yield* holding(() => `${other}\t${"x".repeat(1_000)}`)
      yield* TestClock.adjust("29 minutes")
      expect(yield* Fiber.poll(waiting)).toMatchObject({ _tag: "None" })
      yield* TestClock.adjust("2 minutes")
      const error = yield* Fiber.join(waiting)
      expect(error._tag).toBe("DeployLocked")
      expect(error.message.length).toBeLessThan(400)
    }).pipe(Effect.provide(InstanceLive)))
})
