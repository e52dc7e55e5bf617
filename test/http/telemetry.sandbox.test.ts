import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { attributesOf, metricsOf, spansOf, startCollector, valuesOf } from "../fixtures/network/collector.ts"
import { patience } from "../fixtures/patience.ts"
import { startService } from "../fixtures/programs/service.ts"

describe.skipIf(process.platform === "win32")("telemetry.otlp", { timeout: 60_000 * patience }, () => {
  it.scopedLive("exports the spans of a deploy, and the metrics of GET /api/metrics", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const collector = yield* startCollector()
      appendFileSync(world.settingsFile, `\ntelemetry: { otlp: "${collector.url}", headers: "x-key=hush-hush-hush" }\n`)
      const scope = yield* Scope.make()
      const { request } = yield* Scope.extend(startService(world.settingsFile), scope)
      const listed = yield* request("GET", "/api/settings")
      expect(listed.text).not.toContain("hush")
      expect(listed.body).toMatchObject({
        settings: expect.arrayContaining([
          expect.objectContaining({ name: "telemetry.otlp", value: collector.url, kind: "text", problem: null }),
          expect.objectContaining({ name: "telemetry.headers", value: "***", kind: "secret", problem: null })
        ])
      })
      const body = {
        projectPath: join(world.projects, "hello"),
        serverId: world.serverId,
        remotePath: "~/containers/hello"
      }
      const succeeded = (metrics: string) =>
        [...metrics.matchAll(/^berth_runs_total\{(?=.*kind="deploy")(?=.*end="succeeded").*\} (\d+)$/gm)]
          .reduce((sum, [, value]) => sum + Number(value), 0)
      // The runs of other files in this process count, too.
      const before = succeeded((yield* request("GET", "/api/metrics")).text)
      expect((yield* request("POST", "/api/container/deploy", body)).status).toBe(200)
      const scraped = (yield* request("GET", "/api/metrics")).text
      yield* Scope.close(scope, Exit.void)

      const spans = spansOf(collector)
      const named = (name: string) => spans.find((span) => span["name"] === name)
      const run = named("run.deploy")
      expect(attributesOf(run)).toEqual({ "run.id": expect.any(String), "run.kind": "deploy", "run.end": "succeeded" })
      expect(named("http.server POST")).toMatchObject({ traceId: run?.["traceId"], status: { code: 1 } })
      expect(attributesOf(named("http.server POST"))).toMatchObject({
        "http.request.method": "POST",
        "http.route": "/api/container/deploy",
        "http.response.status_code": 200
      })
      const ids = new Map(spans.map((span) => [span["spanId"], span]))
      for (const step of ["preflight", "upload", "start", "health"]) {
        const above: Array<unknown> = []
        for (let span = named(`step.${step}`); span !== undefined; span = ids.get(span["parentSpanId"])) {
          above.push(span["name"])
        }
        expect(above, step).toContain("run.deploy")
      }
      expect(spans.map(({ name }) => name)).not.toContain("http.server GET")

      const metrics = metricsOf(collector).at(-1) ?? []
      const names = new Set(metrics.map(({ name }) => String(name)))
      const shown = [...scraped.matchAll(/^# TYPE (\S+)/gm)].flatMap(([, name]) => name ?? [])
      expect(shown.length).toBeGreaterThan(5)
      expect([...names].sort()).toEqual([...new Set(shown)].sort())
      const ended = valuesOf(metrics, "berth_runs_total").filter(({ labels }) => labels["kind"] === "deploy")
      const exported = ended.filter(({ labels }) => labels["end"] === "succeeded")
        .reduce((sum, { value }) => sum + Number(value), 0)
      expect(succeeded(scraped)).toBeGreaterThan(before)
      expect(exported).toBeGreaterThanOrEqual(succeeded(scraped))
      const steps = valuesOf(metrics, "berth_step_duration_seconds").map(({ labels }) => labels["step"])
      expect(steps).toEqual(expect.arrayContaining(["preflight", "upload", "start", "health"]))
      for (const { headers, text } of collector.received) {
        expect(headers["x-key"]).toBe("hush-hush-hush")
        expect(text).not.toContain("hush")
      }
    }))
})
