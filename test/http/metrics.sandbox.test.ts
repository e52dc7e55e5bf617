import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { type Sample, samplesIn } from "../fixtures/network/prometheus.ts"
import { patience } from "../fixtures/patience.ts"
import { startService } from "../fixtures/programs/service.ts"

/** Sum of all samples: a process that has loaded the histogram twice, as one of many tests, has a series of each. */
const valueOf = (samples: ReadonlyArray<Sample>, name: string, labels: Sample["labels"] = {}) =>
  samples.filter((sample) =>
    sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value)
  ).reduce((sum, { value }) => sum + value, 0)

describe.skipIf(process.platform === "win32")("GET /api/metrics", { timeout: 60_000 * patience }, () => {
  it.scopedLive("counts runs, steps, bytes and connections in Prometheus' text format", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const read = Effect.map(request("GET", "/api/metrics"), (answer) => {
        expect(answer.status).toBe(200)
        expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
        return samplesIn(answer.text).samples
      })
      const before = yield* read
      const body = {
        projectPath: join(world.projects, "hello"),
        serverId: world.serverId,
        remotePath: "~/containers/hello"
      }
      expect((yield* request("POST", "/api/container/deploy", body)).status).toBe(200)
      expect((yield* request("POST", "/api/container/stop", { ...body, remotePath: "~/containers/none" })).status).not
        .toBe(200)
      const after = yield* read
      const grown = (name: string, labels?: Sample["labels"]) =>
        valueOf(after, name, labels) - valueOf(before, name, labels)
      expect(grown("berth_runs_total", { kind: "deploy", end: "succeeded" })).toBe(1)
      for (const step of ["preflight", "upload", "start", "health"]) {
        expect(grown("berth_step_duration_seconds_count", { kind: "deploy", step }), step).toBe(1)
        expect(grown("berth_step_duration_seconds_bucket", { kind: "deploy", step, le: "+Inf" }), step).toBe(1)
      }
      expect(grown("berth_deploy_sent_bytes_total")).toBeGreaterThan(0)
      expect(valueOf(after, "berth_ssh_connections")).toBeGreaterThan(0)
      expect(valueOf(after, "berth_runs_queued")).toBe(0)
      expect(valueOf(after, "berth_runs_running")).toBe(0)
      expect(valueOf(after, "berth_event_loop_delay_max_seconds")).toBeGreaterThan(0)
      // A second deploy finds everything there.
      expect((yield* request("POST", "/api/container/deploy", body)).status).toBe(200)
      const last = yield* read
      expect(valueOf(last, "berth_deploy_saved_bytes_total")).toBeGreaterThan(
        valueOf(after, "berth_deploy_saved_bytes_total")
      )
    }))
})
