import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { randomBytes } from "node:crypto"
import { readdirSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { listReleases } from "../../../src/pipelines/releases/releases.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { markLabel, runnableImage } from "../../fixtures/docker/runnableImage.ts"
import { run } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { eventually } from "../../sandbox/eventually.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

describe.skipIf(!realServer.available)(
  realServer.title("a rollback on a real server"),
  { timeout: 120_000 * patience },
  () => {
    it.scopedLive("whose shell is killed in the middle leaves a stack that the next one goes back with", () =>
      Effect.gen(function*() {
        const { server, user } = yield* onServer(false)
        const { archive, compose, directory, image, name } = yield* project
        const remotePath = `~/containers/${name}`
        const target = { serverId: server.id, remotePath }
        yield* compose([`image: ${image}`, "network_mode: none", "stop_signal: SIGKILL"])
        const version = Effect.gen(function*() {
          const made = runnableImage(name, randomBytes(100))
          yield* must(() => writeFile(archive, made.archive))
          expect(yield* deploy({ projectPath: directory, ...target })).toMatchObject({ healthy: true })
          return made.mark
        })
        const succeeds = (program: string, ...args: ReadonlyArray<string>) => Effect.isSuccess(run(program, args))

        const first = yield* Effect.provide(version, berth(server))
        yield* Effect.provide(version, berth(server))
        const killed = yield* Effect.fork(Effect.provide(rollback(target), berth(server)))
        // Compose is at work, between the old containers and the new ones: everything of the user ends at once.
        yield* eventually(succeeds("pgrep", "-u", user.name, "-f", "compose.* up "))
        yield* eventually(succeeds("pkill", "-KILL", "-u", user.name))
        yield* Fiber.await(killed)

        yield* Effect.gen(function*() {
          expect(yield* rollback({ ...target, release: "1" })).toMatchObject({ success: true, healthy: true })
          const [current] = yield* listReleases(server.id, remotePath)
          expect(current).toMatchObject({ current: true, available: true })
        }).pipe(Effect.provide(berth(server)))
        const running = yield* docker("ps", "-q", "--filter", `label=com.docker.compose.project=${name}`)
        expect(yield* docker("inspect", "--format", `{{index .Config.Labels "${markLabel}"}}`, running)).toBe(first)
        const notes = readdirSync(join(user.home, "containers", name, ".berth"))
        for (const left of ["incoming", "staged", "previous"]) expect(notes).not.toContain(left)
      }))
  }
)
