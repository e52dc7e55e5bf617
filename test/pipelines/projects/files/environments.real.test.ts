import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../../src/pipelines/deploy/plan.ts"
import { listReleases } from "../../../../src/pipelines/releases/releases.ts"
import { rollback } from "../../../../src/pipelines/releases/rollback.ts"
import { executeStackAction } from "../../../../src/pipelines/stacks.ts"
import { docker, lines } from "../../../fixtures/docker/docker.ts"
import { berth, isOtherEngine, onServer, project, realServer } from "../../../fixtures/docker/realProject.ts"
import { freePort } from "../../../fixtures/network/freePort.ts"
import { patience } from "../../../fixtures/patience.ts"

describe.skipIf(!realServer.available || isOtherEngine)(realServer.title("environments"), {
  timeout: 300_000 * patience
}, () => {
  it.scopedLive("are stacks of their own, each with its compose files and variables, and a protected one is confirmed", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(true)
      const { build, directory, name, port } = yield* project
      const livePort = yield* freePort
      const write = (file: string, text: string) => writeFileSync(join(directory, file), text)
      yield* build("one")
      write("prod.yml", "version: \"3.8\"\nservices:\n  web:\n    environment:\n      TIER: \"${TIER}\"\n")
      write(".env.prod", `HOST_PORT=${livePort}\nTIER=gold\n`)
      const live = `~/containers/${name}-live`
      write(
        "container.json",
        JSON.stringify({
          environments: {
            staging: { server: server.id, remotePath: `~/containers/${name}-staging` },
            live: {
              server: server.id,
              remotePath: live,
              compose: ["compose.yml", "prod.yml"],
              envFiles: [".env.prod"],
              protected: true
            }
          },
          requireEnvironment: true
        })
      )
      const asked = { projectPath: directory }
      yield* Effect.gen(function*() {
        expect(yield* Effect.flip(deploy(asked))).toMatchObject({ _tag: "EnvironmentRequired", status: 422 })
        expect(yield* deploy({ ...asked, environment: "staging" })).toMatchObject({ success: true, healthy: true })
        const plan = yield* planContainers({ ...asked, environment: "live" })
        expect(plan).toMatchObject({ environment: "live", protected: true, remotePath: live, obstacles: [] })
        const refused = yield* Effect.flip(deploy({ ...asked, environment: "live", planHash: plan.planHash }))
        expect(refused).toMatchObject({ _tag: "EnvironmentProtected", status: 403 })
        expect(lines(yield* docker("ps", "-q", "--filter", `label=com.docker.compose.project=${name}-live`))).toEqual(
          []
        )
        const confirmed = { ...asked, environment: "live", confirm: "live" }
        expect(yield* deploy({ ...confirmed, planHash: plan.planHash })).toMatchObject({ success: true, healthy: true })

        const inspected = (stack: string) =>
          Effect.gen(function*() {
            const [id = ""] = lines(
              yield* docker("ps", "-q", "--filter", `label=com.docker.compose.project=${name}-${stack}`)
            )
            const environment = yield* docker("inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", id)
            const ports = yield* docker("port", id)
            return { id, environment: lines(environment), ports }
          })
        const staging = yield* inspected("staging")
        expect(staging.ports).toContain(`:${port}`)
        expect(staging.environment).not.toContain("TIER=gold")
        const first = yield* inspected("live")
        expect(first.ports).toContain(`:${livePort}`)
        expect(first.environment).toContain("TIER=gold")

        // A change of one environment is none of the other.
        write(".env.prod", `HOST_PORT=${livePort}\nTIER=iron\n`)
        expect(yield* deploy(confirmed)).toMatchObject({ success: true, healthy: true })
        expect((yield* inspected("staging")).id).toBe(staging.id)
        expect((yield* inspected("live")).environment).toContain("TIER=iron")
        const releases = yield* listReleases(server.id, live)
        expect(releases.map(({ environment }) => environment)).toEqual(["live", "live"])

        // Stopping and rolling back ask for the name, and leave the other environment alone.
        expect(yield* Effect.flip(rollback({ ...asked, environment: "live" }))).toMatchObject({ status: 403 })
        expect(yield* Effect.flip(executeStackAction("stop", { ...asked, environment: "live" }))).toMatchObject({
          status: 403
        })
        expect(yield* rollback(confirmed)).toMatchObject({ success: true, healthy: true })
        expect((yield* inspected("live")).environment).toContain("TIER=gold")
        expect(yield* executeStackAction("stop", confirmed)).toMatchObject({ success: true })
        expect((yield* inspected("staging")).id).toBe(staging.id)
      }).pipe(Effect.provide(berth(server)))
      for (const stack of ["staging", "live"]) {
        const found = lines(yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project=${name}-${stack}`))
        if (found.length > 0) yield* docker("rm", "-fv", ...found)
      }
    }))
})
