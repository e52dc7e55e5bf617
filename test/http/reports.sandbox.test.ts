import { NodeContext } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { longestReport } from "../../src/schema/deployReport.ts"
import { type Service, startService } from "../fixtures/programs/service.ts"

class Stage extends Context.Tag("Stage")<Stage, { readonly service: Service; readonly projectPath: string }>() {}

const StageLive = Layer.scoped(
  Stage,
  Effect.gen(function*() {
    const world = yield* makeWorld
    return { service: yield* startService(world.settingsFile), projectPath: join(world.projects, "hello") }
  })
).pipe(Layer.provide(NodeContext.layer))

const markdown = { accept: "text/markdown" }

describe.skipIf(process.platform === "win32")("a report over HTTP", () => {
  layer(StageLive, { timeout: "3 minutes", excludeTestServices: true })((it) => {
    it.effect("is what a plan, a rollback and a run answer where Markdown is preferred", () =>
      Effect.gen(function*() {
        const { projectPath, service: { request } } = yield* Stage
        const where = { serverId: "1", remotePath: "~/containers/hello" }
        const servers = yield* request("GET", "/api/servers")
        const [, id = ""] = /"id":"([^"]+)"/.exec(servers.text) ?? []
        const stack = { ...where, serverId: id }
        const wanted = { projectPath, ...stack }
        writeFileSync(join(projectPath, ".env"), "API_TOKEN=planted-token-of-env\n")
        const plan = yield* request("POST", "/api/container/plan", wanted, markdown)
        expect([plan.status, plan.headers.get("content-type")]).toEqual([200, "text/markdown; charset=utf-8"])
        expect(plan.text).toMatch(/^### `hello` would change\n/)
        expect(plan.text).toMatch(/^Plan `[\w-]{20,}`$/m)
        expect(plan.text.length).toBeLessThanOrEqual(longestReport)

        // JSON stays what most clients ask for.
        for (const accept of ["*/*", "application/json", "application/json, text/markdown;q=0.5", "text/html"]) {
          const answer = yield* request("POST", "/api/container/plan", wanted, { accept })
          expect([accept, answer.body]).toEqual([accept, expect.objectContaining({ projectPath })])
        }
        const refused = yield* request("POST", "/api/container/plan", { ...wanted, serverId: "none" }, markdown)
        expect([refused.status, refused.body]).toMatchObject([404, { error: expect.any(String) }])

        const deployed = yield* request("POST", "/api/container/deploy", wanted)
        expect(deployed.status, deployed.text).toBe(200)
        const rollback = yield* request("POST", "/api/container/rollback/plan", { ...stack, release: "1" }, markdown)
        expect([rollback.status, rollback.headers.get("content-type")], rollback.text).toEqual([
          200,
          "text/markdown; charset=utf-8"
        ])
        expect(rollback.text).toMatch(/^### `hello` would be rolled back to release 1\n[\s\S]*Nothing would change\./)

        writeFileSync(join(projectPath, "container.json"), JSON.stringify({ targets: [{ server: id }] }))
        const targets = yield* request("POST", "/api/container/deploy/targets/plan", { projectPath }, markdown)
        expect(targets.text).toMatch(/^### `hello` on 1 servers?\n/)

        const runs = yield* request("GET", "/api/runs")
        const [, run = ""] = /"id":"(\w{26})"/.exec(runs.text) ?? []
        const report = yield* request("GET", `/api/runs/${run}`, undefined, markdown)
        expect(report.text).toMatch(/^### deploy of `hello`: succeeded\n[\s\S]*- `start`: /)
        for (const { text } of [plan, rollback, targets, report]) expect(text).not.toContain("planted-token")
      }))
  })
})
