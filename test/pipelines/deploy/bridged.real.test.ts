import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import type { SettingsFixture } from "../../../src/testing/SettingsTest.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { followingProxy, requestsTo } from "../../fixtures/docker/followingProxy.ts"
import { berth, isOtherEngine, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { rootsDirectory } from "../../fixtures/programs/rootsPrograms.ts"
import { inPart, inTurn } from "../../fixtures/thorough.ts"

const title = realServer.title("a redeploy over a bridge")
const host = "app.example.com"

// The server of the image starts a process for each: a machine that starts them slowly would do nothing else.
const perSecond = inPart(100, 25)

const proxyText = (port: number) =>
  `# of the operator
http:
  routers:
    app:
      rule: "Host(\`${host}\`)"
      service: app
  services:
    app:
      loadBalancer:
        passHostHeader: true
        servers:
          - url: "http://127.0.0.1:${port}" # main
    other:
      loadBalancer:
        servers:
          - url: "http://127.0.0.1:1"
`

/** A project that is deployed, and reached through a proxy that follows its file. */
const world = (settings: SettingsFixture = {}) =>
  Effect.gen(function*() {
    const { server, user } = yield* onServer(true)
    const made = yield* project
    const file = join(yield* rootsDirectory, "proxy.yml")
    const text = proxyText(made.port)
    writeFileSync(file, text)
    const config = (fields: Readonly<Record<string, unknown>> = {}) =>
      writeFileSync(join(made.directory, "container.json"), JSON.stringify({ bridged: ["web"], ...fields }))
    config()
    const request = { projectPath: made.directory, serverId: server.id, remotePath: `~/containers/${made.name}` }
    const layer = berth(server, {
      "proxy.configFile": file,
      "proxy.settle": Duration.seconds(inPart(3, 5)),
      ...settings
    })
    const proxy = yield* followingProxy(file, 300)
    const bridges = docker("ps", "-aq", "--filter", `label=berth.bridge`, "--filter", `ancestor=${made.image}`)
    const notes = join(user.home, "containers", made.name, ".berth")
    return { ...made, bridges, config, file, layer, notes, proxy, request, server, text, user }
  })

// The proxy runs in this process, which may lag behind its file on a busy machine.
describe.skipIf(!realServer.available)(title, { timeout: 300_000, retry: 2 }, () => {
  it.scopedLive("fails no request, and leaves nothing of the bridge", () =>
    Effect.gen(function*() {
      const { answer, bridges, build, file, layer, notes, proxy, request, text } = yield* world()
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
          routes: [{ host, routeName: "app", file }]
        }])
        const load = yield* requestsTo(proxy.port, host, perSecond)
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

  // The way back asks neither the image store nor the version of compose.
  if (!isOtherEngine) {
    it.scopedLive("leads back from a new version that is unhealthy, and never stops the one before", () =>
      Effect.gen(function*() {
        const { answer, bridges, build, config, file, image, layer, notes, proxy, request, text } = yield* world()
        config({ healthTimeout: "4 seconds" })
        yield* build("one")
        yield* Effect.gen(function*() {
          yield* deploy(request)
          const before = yield* docker("ps", "-q", "--filter", `ancestor=${image}`)
          yield* build("sick", {
            healthcheck: "HEALTHCHECK --interval=1s --retries=1 CMD [\"/bin/busybox\", \"false\"]"
          })
          const load = yield* requestsTo(proxy.port, host, perSecond)
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
        const { answer, bridges, build, file, layer, notes, port, proxy, request, text } = yield* world()
        yield* build("one")
        yield* Effect.gen(function*() {
          yield* deploy(request)
          yield* build("two")
          const load = yield* requestsTo(proxy.port, host, perSecond)
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
  }

  it.scopedLive("ends before anything is stopped where the proxy's server cannot reach the bridge", () =>
    Effect.gen(function*() {
      // That address refuses connections, as behind a firewall.
      const { answer, build, file, layer, port, request, text } = yield* world({ "proxy.targetIp": "127.0.0.2" })
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
