import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { randomBytes } from "node:crypto"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeImageArchive } from "../../../src/sandbox/projects.ts"
import { makeWorld, type World } from "../../../src/sandbox/world.ts"
import { startService } from "../../fixtures/programs/service.ts"
import { eventually } from "../../sandbox/eventually.ts"

const deployOf = (world: World) => ({
  projectPath: join(world.projects, "hello"),
  serverId: world.serverId,
  remotePath: "~/containers/hello"
})

const composeOf = (world: World) => join(world.projects, "hello", "compose.yml")
const deployedCompose = (world: World) => readFileSync(join(world.home, "containers", "hello", "compose.yml"), "utf8")

const base = { base: randomBytes(20_000).toString("hex") }
const newArchive = (world: World) =>
  Effect.sync(() =>
    writeFileSync(
      join(world.projects, "hello", "hello.tar"),
      makeImageArchive({ name: "hello:latest", layers: [base, { hello: randomBytes(500).toString("hex") }] })
    )
  )

/** The world's settings in a file of their own: the runs recorded beside a settings file belong to one process. */
const ofAnotherProcess = (world: World) =>
  Effect.sync(() => {
    const directory = mkdtempSync(join(world.home, "another-"))
    const file = join(directory, "berth.yaml")
    copyFileSync(world.settingsFile, file)
    return file
  })

/** Has the server's docker wait, the first time it is asked this, until a file `go` is there; `begun` tells that it does. */
const pausing = (world: World, asked: string) =>
  Effect.sync(() => {
    const docker = join(world.standIns.bin, "docker")
    renameSync(docker, `${docker}-real`)
    const [begun, go] = [join(world.home, "begun"), join(world.home, "go")]
    const script = `#!/bin/sh
if [ "$1 $2" = '${asked}' ] && [ ! -e '${begun}' ]; then
  : >'${begun}'
  while [ -e '${begun}' ] && [ ! -e '${go}' ]; do sleep 0.02; done
fi
exec '${docker}-real' "$@"
`
    writeFileSync(docker, script, { mode: 0o755 })
    return { hasBegun: Effect.sync(() => existsSync(begun)), goOn: Effect.sync(() => writeFileSync(go, "")) }
  })

describe.skipIf(process.platform === "win32")("deploys that overlap", () => {
  it.scopedLive("look at the server once when nobody came in between", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const looks = Effect.map(
        world.server.commands,
        (commands) => commands.filter((text) => text.includes("dockerfree")).length
      )
      for (const times of [1, 2, 3]) {
        expect((yield* request("POST", "/api/container/deploy", deployOf(world))).status).toBe(200)
        expect(yield* looks).toBe(times)
      }
    }))

  it.scopedLive("know what another process deployed after they had looked at the server", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const mine = yield* startService(world.settingsFile)
      const other = yield* startService(yield* ofAnotherProcess(world))
      yield* newArchive(world)
      const first = readFileSync(composeOf(world), "utf8")
      expect((yield* mine.request("POST", "/api/container/deploy", deployOf(world))).status).toBe(200)

      // The last thing that a deploy asks of the server before it takes the lock.
      const { goOn, hasBegun } = yield* pausing(world, "image ls")
      const looking = yield* Effect.fork(mine.request("POST", "/api/container/deploy", deployOf(world)))
      yield* eventually(hasBegun)
      writeFileSync(composeOf(world), `${first}# another\n`)
      expect((yield* other.request("POST", "/api/container/deploy", deployOf(world))).status).toBe(200)
      expect(deployedCompose(world)).toBe(`${first}# another\n`)
      writeFileSync(composeOf(world), first)
      yield* goOn
      expect((yield* Fiber.join(looking)).body).toMatchObject({ healthy: true, uploadedFiles: ["compose.yml"] })
      expect(deployedCompose(world)).toBe(first)
    }))
})
