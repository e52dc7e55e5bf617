import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { docker, removeImages } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer, withSudo } from "../../fixtures/docker/realProject.ts"
import { startRegistry } from "../../fixtures/docker/registry.ts"
import { patience } from "../../fixtures/patience.ts"

const title = realServer.title("a stack whose images come from a registry")

describe.skipIf(!realServer.available)(title, { timeout: 120_000 * patience }, () => {
  for (const useSudo of withSudo) {
    it.scopedLive(`is pulled by the server as far as it may, ${useSudo ? "through sudo" : "as a docker user"}`, () =>
      Effect.gen(function*() {
        const { server } = yield* onServer(useSudo)
        const { compose, directory, name } = yield* project
        const registry = yield* startRegistry
        const image = `${registry.address}/${name}`
        yield* Effect.addFinalizer(() => removeImages(image))
        const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
        const running = docker("ps", "-q", "--no-trunc", "--filter", `name=${name}`)
        yield* compose([`image: ${image}`, "stop_signal: SIGKILL"])
        yield* Effect.gen(function*() {
          const refused = yield* Effect.flip(deploy(request))
          expect(refused.message).toContain(`Deploy failed at pull: "Main" cannot pull ${image}: `)
          expect(refused.message).toMatch(/manifest unknown|not found/)
          expect(refused.message).toMatch(/What ran before was not touched$/)
          const never = yield* Effect.flip(deploy({ ...request, pull: "never" }))
          expect(never.message).toMatch(/^Deploy failed at preflight: the project has no image archive/)

          registry.offer(name, "one")
          const plan = yield* planContainers(request)
          expect(plan).toMatchObject({ obstacles: [], images: [{ name: image, change: "new", bytesToSend: 0 }] })
          expect(plan.warnings).toEqual([`the server pulls ${image} from its registry`])
          expect(yield* deploy({ ...request, planHash: plan.planHash })).toMatchObject({ healthy: true })
          const first = yield* running
          expect(first).not.toBe("")

          registry.offer(name, "two")
          expect(yield* deploy(request)).toMatchObject({ healthy: true })
          expect(yield* running).toBe(first)
          expect(yield* deploy({ ...request, pull: "always" })).toMatchObject({ healthy: true })
          expect(yield* running).not.toBe(first)
        }).pipe(Effect.provide(berth(server)))
      }))
  }
})
