import { OpenApi } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import packageJson from "../../package.json" with { type: "json" }
import { BerthApi } from "../../src/http/api/BerthApi.ts"
import { composeFileLimit } from "../../src/remote/server.ts"
import { version } from "../../src/schema/session.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"

const endpoints = [
  "GET /api/projects",
  "GET /api/projects/secrets",
  "POST /api/projects/inspect",
  "POST /api/projects/adopt",
  "POST /api/projects/compare",
  "POST /api/projects/init",
  "POST /api/projects/programs",
  "POST /api/projects/secrets/check",
  "POST /api/projects/secrets/recipients",
  "POST /api/projects/secrets/set",
  "POST /api/projects/trust",
  "GET /api/servers",
  "POST /api/servers",
  "GET /api/servers/ssh-config",
  "POST /api/servers/test",
  "DELETE /api/servers/{id}",
  "GET /api/servers/{id}/scan",
  "GET /api/servers/{id}/stacks",
  "GET /api/servers/{id}/containers",
  "GET /api/servers/{id}/logs",
  "GET /api/servers/{id}/logs/follow",
  "GET /api/logs/follow",
  "GET /api/servers/{id}/stats",
  "GET /api/servers/{id}/stats/history",
  "GET /api/servers/{id}/disk",
  "POST /api/servers/{id}/prune/plan",
  "POST /api/servers/{id}/prune",
  "GET /api/servers/{id}/backups",
  "GET /api/servers/{id}/releases",
  "GET /api/servers/{id}/releases/compare",
  "POST /api/servers/{id}/exec",
  "POST /api/exec/{id}/input",
  "POST /api/exec/{id}/size",
  "POST /api/exec/{id}/end",
  "POST /api/notify/{name}/test",
  "POST /api/container/build",
  "POST /api/container/deploy",
  "POST /api/container/deploy/targets",
  "POST /api/container/deploy/targets/plan",
  "POST /api/container/rollback",
  "POST /api/container/rollback/plan",
  "POST /api/container/plan",
  "POST /api/container/stop",
  "POST /api/container/start",
  "POST /api/container/restart",
  "POST /api/container/remove",
  "POST /api/container/remove/plan",
  "POST /api/container/pull",
  "POST /api/container/editor-diff",
  "POST /api/container/backup",
  "POST /api/container/backup/verify",
  "POST /api/container/restore",
  "POST /api/container/restore/plan",
  "GET /api/platform/apps",
  "POST /api/platform/apps",
  "GET /api/platform/apps/find/{name}",
  "PATCH /api/platform/apps/{uuid}",
  "DELETE /api/platform/apps/{uuid}",
  "GET /api/platform/apps/{uuid}/envs",
  "POST /api/platform/apps/{uuid}/envs",
  "POST /api/platform/apps/{uuid}/deploy",
  "GET /api/platform/servers",
  "GET /api/platform/next-port",
  "GET /api/platform/routes",
  "POST /api/platform/routes",
  "POST /api/platform/routes/plan",
  "DELETE /api/platform/routes",
  "POST /api/platform/drift",
  "POST /api/platform/plan",
  "POST /api/platform/upsert",
  "GET /api/platform/apps/{uuid}/removal",
  "POST /api/platform/apps/{uuid}/removal",
  "POST /api/platform/adopt",
  "POST /api/platform/verify",
  "GET /api/platform/config",
  "GET /api/platform/changelog",
  "POST /api/platform/webhooks/setup",
  "DELETE /api/platform/webhooks/teardown",
  "GET /api/platform/webhooks/status",
  "POST /api/platform/webhooks/test",
  "GET /api/runs",
  "GET /api/runs/{id}",
  "GET /api/runs/{id}/events",
  "POST /api/runs/{id}/cancel",
  "GET /api/health",
  "GET /api/overview",
  "GET /api/metrics",
  "POST /api/session",
  "GET /api/session",
  "POST /api/session/ticket",
  "GET /api/tokens",
  "POST /api/tokens",
  "DELETE /api/tokens/{name}",
  "GET /api/settings",
  "PATCH /api/settings",
  "PUT /api/servers/{id}",
  "DELETE /api/session"
]

const description = OpenApi.fromApi(BerthApi)
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation }))
)

describe("the description of the API", () => {
  it("is OpenAPI 3.1.0 of the package's version", () => {
    expect(description.openapi).toBe("3.1.0")
    expect(description.info.version).toBe(version)
    expect(packageJson.version).toBe(version)
  })

  it("lists every endpoint and no other", () => {
    expect(operations.map(({ name }) => name).sort()).toEqual([...endpoints].sort())
  })

  it.each(operations)("documents $name with a sentence of help, its answer and its failures", ({ operation }) => {
    expect(operation.description).toMatch(/^[A-Z].{20,}\.$/s)
    const statuses = Object.keys(operation.responses).sort()
    // Endpoints that start a run can answer before its end.
    expect(statuses.filter((status) => status.startsWith("2") && status !== "202")).toEqual(["200"])
    expect(statuses).toEqual(expect.arrayContaining(["400", "401", "403", "500"]))
  })

  it("tells where a scan stops", () => {
    const scan = operations.find(({ name }) => name === "GET /api/servers/{id}/scan")?.operation.description
    expect(scan).toContain(`the first ${composeFileLimit / 1024} KiB of each compose file`)
    expect(scan).toContain("a link")
  })

  it.scopedLive("is served, with a reference page that asks nothing of the network", () =>
    Effect.gen(function*() {
      const service = yield* startService(yield* settingsFileWith(""))
      const json = yield* service.request("GET", "/openapi.json")
      expect(json.body).toMatchObject({ openapi: "3.1.0", info: { version } })
      const page = yield* service.request("GET", "/reference")
      expect(page.status).toBe(200)
      expect(page.headers.get("content-type")).toContain("text/html")
      const tags = page.text.replaceAll(/<script\b[^>]*>[\s\S]*?<\/script>/g, (script) => script.split(">")[0] ?? "")
      expect(tags).not.toMatch(/(src|href)=["']?(https?:)?\/\//)
      const policy = page.headers.get("content-security-policy") ?? ""
      expect(policy).toContain("default-src 'none'")
      expect(policy).toMatch(/script-src 'sha256-/)
      // Without it the page stays empty in a browser; with 'unsafe-eval' text could become JavaScript.
      expect(policy).toContain("'wasm-unsafe-eval'")
      expect(policy).not.toMatch(/script-src[^;]*'unsafe-(inline|eval)'/)
    }))
})
