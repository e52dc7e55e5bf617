import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { stringify } from "yaml"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { startBerth } from "../../fixtures/berthProcess.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { followingProxy, requestsTo } from "../../fixtures/docker/followingProxy.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { rootsDirectory } from "../../fixtures/programs/rootsPrograms.ts"
import { settingsFileWith } from "../../fixtures/programs/service.ts"
import { type Json, requestTo } from "../../sandbox/request.ts"

const host = "app.example.com"
const json = { "content-type": "application/json", "prefer": "respond-async" }

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

const until = <E>(holds: Effect.Effect<boolean, E>) =>
  holds.pipe(
    Effect.tap(Effect.sleep("20 millis")),
    Effect.repeat({ until: (is) => is }),
    Effect.timeout("120 seconds")
  )

const title = realServer.title("a service that is killed in the middle of a bridged deploy")

/** A project that runs behind a proxy, and is redeployed over a bridge by a service that is killed on the way. */
const scene = Effect.gen(function*() {
  const { server, user } = yield* onServer(true)
  const { build, directory, image, name, port } = yield* project
  const file = join(yield* rootsDirectory, "proxy.yml")
  const text = proxyText(port)
  writeFileSync(file, text)
  writeFileSync(join(directory, "container.json"), JSON.stringify({ bridged: ["web"] }))
  const settings = yield* settingsFileWith(stringify({
    proxy: { configFile: file, settle: "3 seconds" },
    deploy: { healthTimeout: "20 seconds", healthInterval: "500 millis" },
    servers: [{
      id: server.id,
      name: server.name,
      host: server.host,
      port: server.port,
      username: user.name,
      password: user.password,
      useSudo: true
    }]
  }))
  const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
  yield* build("one")
  yield* Effect.provide(deploy(request), berth(server))
  const proxy = yield* followingProxy(file, 300)
  const load = yield* requestsTo(proxy.port, host, 50)
  const note = join(user.home, "containers", name, ".berth/bridge")
  const isServed = (by: "both" | "bridge") =>
    Effect.sync(() => {
      const now = readFileSync(file, "utf8")
      return now !== text && now.includes(`:${port}"`) === (by === "both")
    })

  /** Deploys a next version, kills the service when `holds`, starts it again, and answers how the run ended. */
  const killedWhen = (
    moment: string,
    holds: (run: Effect.Effect<Json, Error>) => Effect.Effect<boolean, Error>
  ) =>
    Effect.gen(function*() {
      yield* build(`two, ${moment}`)
      const first = yield* startBerth(settings)
      const started = yield* requestTo(first.url, json)("POST", "/api/container/deploy", request)
      const runOf = (url: string) =>
        Effect.map(requestTo(url, json)("GET", `/api/runs/${String(started.body["id"])}`), ({ body }) => body)
      yield* until(holds(runOf(first.url)))
      yield* first.kill("SIGKILL")
      yield* first.ended
      const next = yield* startBerth(settings)
      const run = yield* runOf(next.url).pipe(
        Effect.tap(Effect.sleep("200 millis")),
        Effect.repeat({ until: ({ state }) => !["queued", "running"].includes(String(state)) }),
        Effect.timeout("150 seconds")
      )
      yield* next.kill("SIGTERM")
      yield* next.ended
      expect(readFileSync(file, "utf8"), `${moment}: ${JSON.stringify(run)}`).toBe(text)
      expect(existsSync(note), moment).toBe(false)
      expect(yield* docker("ps", "-aq", "--filter", "label=berth.bridge", "--filter", `ancestor=${image}`)).toBe("")
      return String(run["state"])
    })
  return { isServed, killedWhen, load, noted: Effect.sync(() => existsSync(note)) }
})

const inStep = (step: string) => (run: Effect.Effect<Json, Error>) =>
  Effect.map(run, ({ steps }) => Array.isArray(steps) && steps.at(-1)?.step === step)

describe.skipIf(!realServer.available)(title, { timeout: 300_000 * patience }, () => {
  it.scopedLive("leads back when it starts again, and no request fails meanwhile", () =>
    Effect.gen(function*() {
      const { isServed, killedWhen, load, noted } = yield* scene
      for (
        const [moment, holds] of [
          ["the bridge is started", noted],
          ["both serve", isServed("both")],
          ["the bridge serves", isServed("bridge")]
        ] as const
      ) {
        expect(yield* killedWhen(moment, () => holds), moment).toMatch(/failed|interrupted/)
      }
      const report = yield* load.report
      expect(report.failed).toEqual([])
      expect(report.answers).toContain("one")
    }))

  it.scopedLive("finishes what it began behind the bridge when it starts again, and no request fails meanwhile", () =>
    Effect.gen(function*() {
      const { killedWhen, load } = yield* scene
      for (const step of ["start", "health", "return"]) {
        expect(yield* killedWhen(step, inStep(step)), step).toMatch(/succeeded|failed|interrupted/)
      }
      expect((yield* load.report).failed).toEqual([])
    }))
})
