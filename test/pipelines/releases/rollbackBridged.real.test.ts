import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planRollback, rollback } from "../../../src/pipelines/releases/rollback.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { followingProxy, requestsTo } from "../../fixtures/docker/followingProxy.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { rootsDirectory } from "../../fixtures/programs/rootsPrograms.ts"

const host = "app.example.com"

const proxyText = (port: number) =>
  `http:
  routers:
    app:
      rule: "Host(\`${host}\`)"
      service: app
  services:
    app:
      loadBalancer:
        servers:
          - url: "http://127.0.0.1:${port}"
`

// The proxy runs in this process, which may lag behind its file on a busy machine.
describe.skipIf(!realServer.available)(
  realServer.title("a rollback over a bridge"),
  { timeout: 300_000 * patience },
  () => {
    it.scopedLive("fails no request, and leads back when it is cancelled", () =>
      Effect.gen(function*() {
        const { server, user } = yield* onServer(true)
        const { answer, build, directory, image, name, port } = yield* project
        const file = join(yield* rootsDirectory, "proxy.yml")
        const text = proxyText(port)
        writeFileSync(file, "http: {}\n")
        writeFileSync(join(directory, "container.json"), JSON.stringify({ bridged: ["web"] }))
        const target = { serverId: server.id, remotePath: `~/containers/${name}` }
        const note = join(user.home, "containers", name, ".berth/bridge")
        yield* Effect.gen(function*() {
          const runs = yield* Runs
          // No route leads to the service yet, so it is recreated in place.
          for (const version of ["one", "two"]) {
            yield* build(version)
            expect(yield* deploy({ projectPath: directory, ...target })).toMatchObject({ healthy: true })
          }
          writeFileSync(file, text)
          const proxy = yield* followingProxy(file, 300)
          expect((yield* planRollback(target)).services).toEqual([{
            name: "web",
            change: "recreate",
            rollout: "bridged",
            routes: [{ host, routeName: "app", file }]
          }])
          const load = yield* requestsTo(proxy.port, host, 50)
          const back = yield* rollback(target)
          expect(back).toMatchObject({ success: true, healthy: true })
          expect(back.message).toContain("A bridge took the requests of web meanwhile.")
          const [done] = (yield* runs.list({})).runs
          expect(done?.steps.map(({ step }) => step)).toEqual(
            ["preflight", "stage", "load", "bridge", "start", "health", "return"]
          )
          expect(readFileSync(file, "utf8")).toBe(text)
          expect(yield* answer).toBe("one")

          // The present release was not deployed but rolled back to, and is still declared.
          const cancelled = yield* Effect.fork(Effect.exit(rollback(target)))
          const running = Effect.map(runs.list({}), ({ runs: all }) => all.find(({ state }) => state === "running"))
          yield* Effect.repeat(Effect.sync(() => !readFileSync(file, "utf8").includes(`:${port}"`)), {
            until: (isBridged) => isBridged,
            schedule: Schedule.spaced("20 millis")
          })
          yield* runs.cancel((yield* running)?.id ?? "")
          yield* Fiber.join(cancelled)
          const report = yield* load.report
          expect(report.failed).toEqual([])
          expect(report.answers).toEqual(new Set(["one", "two"]))
        }).pipe(Effect.provide(berth(server, { "proxy.configFile": file, "proxy.settle": Duration.seconds(3) })))
        expect(yield* answer).toBe("one")
        expect(readFileSync(file, "utf8")).toBe(text)
        expect(existsSync(note)).toBe(false)
        expect(yield* docker("ps", "-aq", "--filter", "label=berth.bridge", "--filter", `ancestor=${image}`)).toBe("")
      }))
  }
)
