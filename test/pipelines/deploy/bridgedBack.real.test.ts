import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { proxyHost } from "../../fixtures/docker/bridgedProject.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { requestsTo } from "../../fixtures/docker/followingProxy.ts"
import { perSecond, proxiedProject } from "../../fixtures/docker/proxiedProject.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { inTurn } from "../../fixtures/thorough.ts"

const title = realServer.title("a redeploy over a bridge that cannot go on")

// The proxy runs in this process, which may lag behind its file on a busy machine.
describe.skipIf(!realServer.available)(title, { timeout: 300_000 * patience }, () => {
  it.scopedLive("leads back from a new version that is unhealthy, and never stops the one before", () =>
    Effect.gen(function*() {
      const { answer, bridges, build, config, file, image, layer, notes, proxy, request, text } =
        yield* proxiedProject()
      config({ healthTimeout: "4 seconds" })
      yield* build("one")
      yield* Effect.gen(function*() {
        yield* deploy(request)
        const before = yield* docker("ps", "-q", "--filter", `ancestor=${image}`)
        yield* build("sick", {
          healthcheck: "HEALTHCHECK --interval=1s --retries=1 CMD [\"/bin/busybox\", \"false\"]"
        })
        const load = yield* requestsTo(proxy.port, proxyHost, perSecond)
        const refused = yield* deploy(request)
        const report = yield* load.report
        expect(refused).toMatchObject({ success: false, healthy: false, status: "unhealthy" })
        expect(refused.message).toMatch(
          /was not deployed, and what ran before was not stopped: the new version was unhealthy/
        )
        expect(report.failed).toEqual([])
        expect(report.answers).toEqual(new Set(["one"]))
        expect(yield* docker("ps", "-q", "--no-trunc")).toContain(before)
        // The next deploy finds nothing in its way.
        yield* build("two")
        expect(yield* deploy(request)).toMatchObject({ healthy: true })
      }).pipe(Effect.provide(layer))
      expect(yield* answer).toBe("two")
      expect(readFileSync(file, "utf8")).toBe(text)
      expect(yield* bridges).toBe("")
      expect(existsSync(join(notes, "bridge"))).toBe(false)
    }))

  it.scopedLive("leads back when it is cancelled on the bridge, or after the start", () =>
    Effect.gen(function*() {
      const { answer, bridges, build, file, layer, notes, port, proxy, request, text } = yield* proxiedProject()
      yield* build("one")
      yield* Effect.gen(function*() {
        yield* deploy(request)
        yield* build("two")
        const load = yield* requestsTo(proxy.port, proxyHost, perSecond)
        for (const moment of inTurn(["both serve", "the bridge serves", "it waits for health"] as const, 1)) {
          const runs = yield* Runs
          const cancelled = yield* Effect.fork(Effect.exit(deploy(request)))
          const running = Effect.map(runs.list({}), ({ runs: all }) => all.find(({ state }) => state === "running"))
          const isThere = Effect.gen(function*() {
            const now = readFileSync(file, "utf8")
            const isBoth = now !== text && now.includes(`127.0.0.1:${port}"`)
            const steps = (yield* running)?.steps ?? []
            return {
              "both serve": isBoth,
              "the bridge serves": now !== text && !isBoth,
              "it waits for health": steps.some((each) => each.step === "health")
            }[moment]
          })
          yield* Effect.repeat(isThere, { until: (there) => there, schedule: Schedule.spaced("20 millis") })
          yield* runs.cancel((yield* running)?.id ?? "")
          yield* Fiber.join(cancelled)
          expect(readFileSync(file, "utf8"), moment).toBe(text)
          expect(yield* bridges, moment).toBe("")
          expect(existsSync(join(notes, "bridge")), moment).toBe(false)
        }
        const report = yield* load.report
        expect(report.failed).toEqual([])
      }).pipe(Effect.provide(layer))
      expect(yield* answer).toBe("one")
    }))

  it.scopedLive("ends before anything is stopped where the proxy's server cannot reach the bridge", () =>
    Effect.gen(function*() {
      // That address refuses connections, as behind a firewall.
      const { answer, build, file, layer, port, request, text } = yield* proxiedProject({
        "proxy.targetIp": "127.0.0.2"
      })
      const elsewhere = text.replace(`127.0.0.1:${port}`, `127.0.0.2:${port}`)
      writeFileSync(file, elsewhere)
      yield* build("one")
      yield* Effect.gen(function*() {
        yield* deploy(request)
        yield* build("two")
        const refused = yield* deploy(request)
        expect(refused).toMatchObject({ success: false, status: "unhealthy" })
        expect(refused.message).toMatch(
          /port \d+ of 127\.0\.0\.2, seen from "Main", does not accept connections\. A firewall has to let/
        )
      }).pipe(Effect.provide(layer))
      expect(readFileSync(file, "utf8")).toBe(elsewhere)
      expect(yield* answer).toBe("one")
    }))
})
