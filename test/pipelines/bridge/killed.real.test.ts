import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { stringify } from "yaml"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { type BerthProcess, startBerth } from "../../fixtures/berthProcess.ts"
import { docker } from "../../fixtures/docker.ts"
import { followingProxy, requestsTo } from "../../fixtures/followingProxy.ts"
import { berth, onServer, project, realServer } from "../../fixtures/realProject.ts"
import { rootsDirectory } from "../../fixtures/rootsPrograms.ts"
import { settingsFileWith } from "../../fixtures/service.ts"
import { requestTo } from "../../sandbox/request.ts"

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

const until = (holds: () => boolean) =>
  Effect.sync(holds).pipe(
    Effect.tap(Effect.sleep("20 millis")),
    Effect.repeat({ until: (is) => is }),
    Effect.timeout("120 seconds")
  )

const title = realServer.title("a service that is killed in the middle of a bridged deploy")

describe.skipIf(!realServer.available)(title, { timeout: 300_000, retry: 2 }, () => {
  it.scopedLive("leads back when it starts again, and no request fails meanwhile", () =>
    Effect.gen(function*() {
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
      const isBoth = () => readFileSync(file, "utf8").includes(`:${port}"`) && readFileSync(file, "utf8") !== text
      const isBridge = () => !readFileSync(file, "utf8").includes(`:${port}"`)
      let running: BerthProcess & { readonly url: string } = yield* startBerth(settings)
      for (
        const [moment, holds] of [
          ["the bridge is started", () => existsSync(note)],
          ["both serve", isBoth],
          ["the bridge serves", isBridge]
        ] as const
      ) {
        yield* build(`two, ${moment}`)
        const started = yield* requestTo(running.url, json)("POST", "/api/container/deploy", request)
        const id = String(started.body["id"])
        yield* until(holds)
        yield* running.kill("SIGKILL")
        yield* running.ended
        running = yield* startBerth(settings)
        const { body } = yield* requestTo(running.url, json)("GET", `/api/runs/${id}`).pipe(
          Effect.tap(Effect.sleep("200 millis")),
          Effect.repeat({ until: ({ body }) => !["queued", "running"].includes(String(body["state"])) }),
          Effect.timeout("150 seconds")
        )
        expect(readFileSync(file, "utf8"), `${moment}: ${JSON.stringify(body)}`).toBe(text)
        expect(existsSync(note), moment).toBe(false)
        expect(yield* docker("ps", "-aq", "--filter", "label=berth.bridge", "--filter", `ancestor=${image}`)).toBe("")
        expect(String(body["state"])).toMatch(/failed|interrupted/)
      }
      const report = yield* load.report
      expect(report.failed).toEqual([])
      expect(report.answers).toContain("one")
    }))
})
