import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { deployTargets } from "../../../src/pipelines/targets/deployTargets.ts"
import { docker, lines } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"

const title = realServer.title("a deploy to several targets on a real server")

describe.skipIf(!realServer.available)(title, { timeout: 120_000 * patience }, () => {
  it.scopedLive("leaves the first one deployed where the second one fails, and deploys both once nothing is in the way", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(true)
      const { answer, build, compose, directory, image, name } = yield* project
      const paths = [`~/containers/${name}`, `~/containers/${name}-b`]
      const targets = paths.map((remotePath) => ({ server: "Main", remotePath }))
      writeFileSync(join(directory, "container.json"), JSON.stringify({ targets }))
      yield* build("one")
      const running = Effect.map(
        docker("ps", "--filter", `name=${name}`, "--format", "{{.Label \"com.docker.compose.project\"}}"),
        (printed) => [...lines(printed)].sort()
      )
      yield* Effect.gen(function*() {
        // Both publish the same port of the same machine.
        const first = yield* deployTargets({ projectPath: directory })
        expect(first.targets.map(({ outcome }) => outcome)).toEqual(["deployed", "failed"])
        expect(first.message).toMatch(
          /^1 of 2 servers runs the new version: .* Deploy failed at preflight: port \d+ .* is taken on "Main" by the stack in /
        )
        expect(yield* running).toEqual([name])
        expect(yield* answer).toBe("one")

        yield* compose([`image: ${image}`, "stop_signal: SIGKILL"])
        const second = yield* deployTargets({ projectPath: directory, parallel: true })
        expect(second).toMatchObject({ success: true, healthy: true, deployed: 2 })
        expect(yield* running).toEqual([name, `${name}-b`])
      }).pipe(Effect.provide(berth(server)))
    }))
})
