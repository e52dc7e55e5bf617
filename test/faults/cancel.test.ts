import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeImageArchive } from "../../src/sandbox/projects.ts"
import { makeWorld, type World } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { startService } from "../fixtures/programs/service.ts"
import type { Json } from "../sandbox/request.ts"

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value))

/** Makes the server's docker wait for a second in the first `compose up` from now on. */
const slowStart = (world: World) => {
  const docker = join(world.standIns.bin, "docker")
  const real = join(world.standIns.bin, "docker-real")
  const begun = join(world.home, "begun")
  renameSync(docker, real)
  writeFileSync(
    docker,
    `#!/bin/sh
case " $* " in *" up "*) [ -e '${begun}' ] || { : >'${begun}'; sleep 1; } ;; esac
exec '${real}' "$@"
`,
    { mode: 0o755 }
  )
  return begun
}

const deployOf = (world: World) => ({
  projectPath: join(world.projects, "hello"),
  serverId: world.serverId,
  remotePath: "~/containers/hello"
})

const writeVersion = (world: World, file: string) => {
  writeFileSync(
    join(world.projects, "hello", "hello.tar"),
    makeImageArchive({ name: "hello:latest", layers: [{ hello: randomBytes(1_000).toString("hex") }] })
  )
  const compose = join(world.projects, "hello", "compose.yml")
  writeFileSync(compose, `${readFileSync(compose, "utf8").replace(/# version.*\n/, "")}# version ${file}\n`)
}

describe.skipIf(process.platform === "win32")("a deploy that is cancelled while its stack starts", () => {
  it.scopedLive("lets the start end, starts the release before again, and says so", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      writeVersion(world, "one")
      expect((yield* request("POST", "/api/container/deploy", deployOf(world))).body).toMatchObject({ healthy: true })
      const compose = join(world.home, "containers", "hello", "compose.yml")
      expect(readFileSync(compose, "utf8")).toContain("# version one")

      writeVersion(world, "two")
      const begun = slowStart(world)
      const started = yield* request("POST", "/api/container/deploy", deployOf(world), { prefer: "respond-async" })
      const path = `/api/runs/${json(started.body)["id"]}`
      yield* Effect.repeat(Effect.sync(() => existsSync(begun)), {
        until: (is) => is,
        schedule: Schedule.spaced("20 millis")
      }).pipe(Effect.timeout("30 seconds"))
      expect((yield* request("POST", `${path}/cancel`)).status).toBe(200)
      const ended = yield* Effect.repeat(request("GET", path), {
        until: ({ body }) => String(json(body)["state"]) !== "running",
        schedule: Schedule.spaced("50 millis")
      }).pipe(Effect.timeoutOption("25 seconds"), Effect.zipRight(request("GET", path)))
      expect(ended.body).toMatchObject({
        state: "cancelled",
        error: {
          status: 409,
          error: expect.stringMatching(
            /^The deploy was cancelled at start\. Release \S+ runs again and is healthy$/
          )
        }
      })
      expect(json(ended.body)["steps"]).toEqual(
        expect.arrayContaining([expect.objectContaining({ step: "rollback", status: "done" })])
      )
      expect(readFileSync(compose, "utf8")).toContain("# version one")
    }), 120_000 * patience)
})
