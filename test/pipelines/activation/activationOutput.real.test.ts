import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { newestOutput } from "../../fixtures/runs/newestOutput.ts"
import { eventually } from "../../sandbox/eventually.ts"

const title = realServer.title("what docker load and compose write on a real server")

describe.skipIf(!realServer.available)(title, { timeout: 120_000 * patience }, () => {
  it.scopedLive("is told while they run", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(true)
      const { build, compose, directory, image, name } = yield* project
      const quiet = ["stop_signal: SIGKILL", "network_mode: none"]
      // Compose starts the one when the other has been healthy for the first time, which takes seconds.
      yield* compose([`image: ${image}`, ...quiet, "depends_on: { base: { condition: service_healthy } }"], [
        "  base:",
        ...[
          `image: ${image}`,
          ...quiet,
          "healthcheck: { test: [\"CMD\", \"/bin/busybox\", \"true\"], interval: 5s }"
        ].map((line) => `    ${line}`)
      ])
      yield* build("one")
      yield* Effect.gen(function*() {
        const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
        const deploying = yield* Effect.fork(deploy(request))
        yield* eventually(Effect.map(newestOutput, (all) => /(Creating|Container) \S*base/.test(all)))
        expect(deploying.unsafePoll()).toBeNull()
        expect(yield* docker("ps", "-aq", "--filter", `name=${name}.web`)).toBe("")
        expect(yield* Fiber.join(deploying)).toMatchObject({ healthy: true })
        expect(yield* newestOutput).toMatch(/^Loaded image: [^]*base[^]*web/m)
      }).pipe(Effect.provide(berth(server)))
    }))
})
