import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { proxyHost } from "../../fixtures/docker/bridgedProject.ts"
import { requestsTo } from "../../fixtures/docker/followingProxy.ts"
import { perSecond, proxiedProject } from "../../fixtures/docker/proxiedProject.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"

const title = realServer.title("a redeploy over a bridge")

// The proxy runs in this process, which may lag behind its file on a busy machine.
describe.skipIf(!realServer.available)(title, { timeout: 300_000 * patience }, () => {
  it.scopedLive("fails no request, and leaves nothing of the bridge", () =>
    Effect.gen(function*() {
      const { answer, bridges, build, file, layer, notes, proxy, request, text } = yield* proxiedProject()
      yield* build("one")
      yield* Effect.gen(function*() {
        expect(yield* deploy(request)).toMatchObject({ success: true, healthy: true })
        expect(readFileSync(file, "utf8")).toBe(text)
        yield* build("two")
        const plan = yield* planContainers(request)
        expect(plan.services).toEqual([{
          name: "web",
          change: "recreate",
          rollout: "bridged",
          routes: [{ host: proxyHost, routeName: "app", file }]
        }])
        const load = yield* requestsTo(proxy.port, proxyHost, perSecond)
        const second = yield* deploy({ ...request, planHash: plan.planHash })
        yield* Effect.sleep("1 seconds")
        const report = yield* load.report
        expect(second).toMatchObject({ success: true, healthy: true })
        expect(second.message).toContain("A bridge took the requests of web meanwhile.")
        expect(report.failed).toEqual([])
        expect(report.sent).toBeGreaterThan(3 * perSecond)
        expect(report.answers).toEqual(new Set(["one", "two"]))
        expect(proxy.served.size).toBe(2)
      }).pipe(Effect.provide(layer))
      expect(yield* answer).toBe("two")
      expect(readFileSync(file, "utf8")).toBe(text)
      expect(yield* bridges).toBe("")
      for (const name of ["bridge", "waiting", "go", "stop"]) expect(existsSync(join(notes, name))).toBe(false)
    }))
})
