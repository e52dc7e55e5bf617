import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { ObservedProject } from "../../src/schema/overview.ts"
import { computePollMillis } from "../../src/web/service.ts"

const project = (fields: object = {}) =>
  Schema.decodeUnknownSync(ObservedProject)({
    name: "hello",
    path: "/projects/hello",
    state: "running",
    stateReason: null,
    changes: 0,
    servers: [],
    run: null,
    lastRun: null,
    problems: [],
    urls: [],
    observedAt: "2026-01-02T03:04:05.678Z",
    ...fields
  })

const run = {
  id: "01m80yqq5mpfzvahn1sfvx7mvm",
  kind: "stack",
  state: "running",
  subject: { projectPath: "/projects/hello" },
  requestedBy: { name: "Ann", door: "web" },
  requestedAt: "2026-01-02T03:04:05.678Z",
  startedAt: "2026-01-02T03:04:05.678Z",
  endedAt: null,
  steps: [],
  result: null,
  error: null
}

describe("overviewPollMillis", () => {
  it("asks twice a minute while nothing is about to change", () => {
    expect(computePollMillis(undefined)).toBe(30_000)
    expect(computePollMillis({ projects: [project()] })).toBe(30_000)
  })

  it("asks again soon after an overview that was made during a run: its state ends with the run", () => {
    expect(computePollMillis({ projects: [project(), project({ run })] })).toBe(5_000)
  })

  it("asks sooner for what was not observed in time", () => {
    expect(computePollMillis({ projects: [project({ state: "unknown", stateReason: "no answer" })] })).toBe(15_000)
  })
})
