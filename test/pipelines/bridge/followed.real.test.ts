import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { bridgedProject, proxyHost } from "../../fixtures/docker/bridgedProject.ts"
import { followingProxy, requestsTo } from "../../fixtures/docker/followingProxy.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { nginxFollowing, realNginx } from "../../fixtures/network/nginx.ts"
import { patience } from "../../fixtures/patience.ts"

// Traefik's own throttle, and the settings' own default.
const throttleMillis = 2_000
const settle = { "proxy.settle": Duration.seconds(5) }

const title = realServer.title(realNginx.title("a redeploy behind proxies that follow their file every two seconds"))

describe.skipIf(!realServer.available || !realNginx.available)(title, { timeout: 300_000 * patience }, () => {
  it.scopedLive("fails none of 100 requests a second, nor any that nginx passes on", () =>
    Effect.gen(function*() {
      const world = yield* bridgedProject()
      yield* Effect.gen(function*() {
        yield* world.build("one")
        yield* deploy(world.request)
        yield* world.build("two")
        const proxy = yield* followingProxy(world.file, throttleMillis)
        const nginx = yield* nginxFollowing(world.file, throttleMillis)
        const load = yield* requestsTo(proxy.port, proxyHost, 100)
        // A worker that was replaced closes the connections that its clients keep.
        const byNginx = yield* requestsTo(nginx.port, proxyHost, 20, { keepsConnections: false })
        expect(yield* deploy(world.request)).toMatchObject({ success: true, healthy: true })
        yield* Effect.sleep(throttleMillis)
        const [report, second] = [yield* load.report, yield* byNginx.report]
        expect(report.failed).toEqual([])
        expect(second.failed, nginx.log()).toEqual([])
        expect(report.sent).toBeGreaterThan(500)
        for (const { answers } of [report, second]) expect(answers).toEqual(new Set(["one", "two"]))
        expect(proxy.served.size).toBe(2)
      }).pipe(Effect.provide(world.layer(settle)))
      yield* world.nothingLeft("afterwards")
      expect(yield* world.answer).toBe("two")
    }))
})
