import { NodeContext } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { RunsPage } from "../../src/schema/runs.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { type Service, startService } from "../fixtures/programs/service.ts"

interface Scene {
  readonly service: Service
  readonly projectPath: string
  /** Names the targets of the project. */
  readonly setTargets: (targets: ReadonlyArray<{ readonly server: string; readonly remotePath?: string }>) => void
}

class Stage extends Context.Tag("Stage")<Stage, Scene>() {}

/** Two stored servers, which are one machine, and a project with a target on each. */
const StageLive = Layer.scoped(
  Stage,
  Effect.gen(function*() {
    const world = yield* makeWorld
    const service = yield* startService(world.settingsFile)
    const { host, password, port, username } = world.server
    const saved = yield* service.request("POST", "/api/servers", {
      name: "web-2",
      host,
      port,
      username,
      password: Redacted.value(password),
      useSudo: true
    })
    expect(saved.status).toBe(200)
    const projectPath = join(world.projects, "hello")
    const setTargets: Scene["setTargets"] = (targets) =>
      writeFileSync(join(projectPath, "container.json"), JSON.stringify({ targets }))
    // Both are one machine: neither a port nor a name of a container can be there twice.
    writeFileSync(join(projectPath, "compose.yml"), "services:\n  hello:\n    image: hello:latest\n")
    setTargets([{ server: "Sandbox" }, { server: "web-2", remotePath: "~/containers/hello-2" }])
    return { service, projectPath, setTargets }
  })
).pipe(Layer.provide(NodeContext.layer))

const runsIn = Schema.decodeSync(Schema.parseJson(RunsPage))
const flat = (text: string) => text.replaceAll(/\s+/g, " ")

describe.skipIf(process.platform === "win32")("a project with targets", () => {
  layer(StageLive, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("is planned and deployed to all of them over HTTP, or to those that are named", () =>
      Effect.gen(function*() {
        const { projectPath, service: { request } } = yield* Stage
        const plan = yield* request("POST", "/api/container/deploy/targets/plan", { projectPath })
        expect(plan.body).toMatchObject({
          parallel: false,
          targets: [
            { server: "Sandbox", remotePath: "~/containers/hello", error: null, plan: { obstacles: [] } },
            { server: "web-2", remotePath: "~/containers/hello-2", error: null, plan: { obstacles: [] } }
          ]
        })
        const one = yield* request("POST", "/api/container/deploy/targets", { projectPath, servers: ["web-2"] })
        expect(one.body).toMatchObject({ success: true, targets: [{ server: "web-2", outcome: "deployed" }] })
        const unknown = yield* request("POST", "/api/container/deploy/targets", { projectPath, servers: ["attic"] })
        expect(unknown.status).toBe(404)

        const overview = yield* request("GET", "/api/overview")
        expect(overview.body).toMatchObject({
          projects: expect.arrayContaining([
            expect.objectContaining({ name: "hello", state: "not deployed", stateReason: "on Sandbox" })
          ])
        })
      }))

    it.effect("is deployed to all of them by one command, after one question", () =>
      Effect.gen(function*() {
        const { service: { request, url } } = yield* Stage
        const dry = yield* runCli({ url }, ["deploy", "hello", "--dry-run"])
        expect(dry.out).toContain("Deploy hello to ~/containers/hello on Sandbox:")
        expect(dry.out).toContain("Deploy hello to ~/containers/hello-2 on web-2:")
        expect(dry.code).toBe(0)
        const declined = yield* runCli({ url }, ["deploy", "hello"], { columns: 100, answers: [false] })
        expect(declined.code).toBe(1)
        const ran = yield* runCli({ url }, ["deploy", "hello", "--yes"])
        expect([ran.code, ran.out]).toEqual([0, ""])
        expect(ran.err).toContain("Sandbox: upload")
        expect(ran.err).toMatch(/SERVER +PATH +OUTCOME +RUN\n/)
        expect(flat(ran.err)).toContain("2 of 2 servers run the new version: Sandbox, web-2.")
        const { runs: [parent] } = runsIn((yield* request("GET", "/api/runs?kind=deploy-all&limit=1")).text)
        const id = parent?.id ?? ""
        const shown = yield* runCli({ url }, ["runs", id])
        expect(shown.out).toContain("deploy-all of hello: succeeded")
        expect(shown.out).toMatch(/\nDeploy to Sandbox: run 0[0-9a-z]{25}\nDeploy to web-2: run 0[0-9a-z]{25}\n/)
        const { runs: children } = runsIn((yield* request("GET", "/api/runs?kind=deploy&limit=2")).text)
        expect(children).toMatchObject([{ parent: id }, { parent: id }])
        expect((yield* runCli({ url }, ["runs", children[0]?.id ?? ""])).out).toContain(`Part of run ${id}`)
        const parallel = yield* runCli({ url }, ["deploy", "hello", "--yes", "--parallel", "--json"])
        expect(JSON.parse(parallel.out)).toMatchObject({ success: true, deployed: 2 })
      }))

    it.effect("needs --server for commands about one stack", () =>
      Effect.gen(function*() {
        const { service: { url } } = yield* Stage
        for (
          const args of [["rollback", "hello"], ["logs", "hello"], ["exec", "hello", "--", "true"], [
            "restart",
            "hello"
          ]]
        ) {
          const ran = yield* runCli({ url }, args)
          expect(ran.code).toBe(1)
          expect(flat(ran.err)).toContain("hello has several targets: pick one with --server Sandbox or --server web-2")
        }
        const picked = yield* runCli({ url }, ["deploy", "hello", "--server", "web-2", "--dry-run"])
        expect(picked.out).toContain("Deploy hello to ~/containers/hello-2 on web-2:")
        const releases = yield* runCli({ url }, ["releases", "hello", "--path", "~/containers/hello-2"])
        expect(releases.code).toBe(0)
        expect((yield* runCli({ url }, ["deploy", "notes", "--parallel", "--yes"])).err).toContain("--parallel is for")
      }))

    it.effect("says which of its servers cannot be planned, and deploys to none", () =>
      Effect.gen(function*() {
        const { projectPath, service: { request, url }, setTargets } = yield* Stage
        yield* request("POST", "/api/servers", {
          name: "away",
          host: "127.0.0.1",
          port: 1,
          username: "nobody",
          password: "x"
        })
        setTargets([{ server: "Sandbox" }, { server: "away" }])
        const plan = yield* request("POST", "/api/container/deploy/targets/plan", { projectPath })
        expect(plan.body).toMatchObject({
          planHash: null,
          targets: [{ error: null }, { plan: null, error: expect.stringContaining("Cannot reach server \"away\"") }]
        })
        const ran = yield* runCli({ url }, ["deploy", "hello", "--yes"])
        expect(ran.code).toBe(1)
        expect(flat(ran.err)).toContain("hello cannot be deployed to all of its targets now: nothing was changed")
        const asked = yield* request("POST", "/api/container/deploy/targets", { projectPath })
        expect(asked.body).toMatchObject({
          success: false,
          targets: [{ outcome: "deployed" }, { outcome: "failed" }],
          message: expect.stringContaining("1 of 2 servers runs the new version: Sandbox. away: ")
        })
      }))
  })
})
