import { describe, expect, it } from "vitest"
import { listRemedies, type Remedy } from "../../../src/schema/runs.ts"

type Ended = Parameters<typeof listRemedies>[0]

const time = "2026-01-02T03:04:05.678Z"
const failedAt = (step: string, fields: Partial<Ended> = {}): Ended => ({
  kind: "deploy",
  state: "failed",
  subject: { projectPath: "/projects/hello" },
  steps: [{ step, status: "error", detail: "it failed", startedAt: time, endedAt: time }],
  result: null,
  error: { status: 500, error: "it failed" },
  ...fields
})

describe("remediesOf", () => {
  it.each<readonly [string, Ended, ReadonlyArray<Remedy>]>([
    ["a deploy to several servers", failedAt("web-1: upload", { kind: "deploy-all" }), ["again"]],
    ["a server that is not fit", failedAt("preflight"), ["server", "again"]],
    ["an upload that broke off", failedAt("upload"), ["server", "again"]],
    ["a server that does not answer", failedAt("start", { error: { status: 502, error: "" } }), ["server", "again"]],
    ["a stack that does not start", failedAt("start"), ["log", "again"]],
    [
      "an unhealthy version that made way",
      failedAt("health", { result: { success: false, healthy: false }, error: null }),
      ["log", "again"]
    ],
    [
      "an unhealthy version that stays",
      failedAt("health", { result: { success: true, healthy: false }, error: null }),
      ["log", "releases", "again"]
    ],
    [
      "the first version, which stays unhealthy",
      failedAt("health", { result: { success: true, healthy: false, isFirst: true }, error: null }),
      ["log", "again"]
    ],
    ["a plan that moved, or another deploy", failedAt("preflight", { error: { status: 409, error: "" } }), [
      "changes",
      "again"
    ]],
    ["a release that is gone", failedAt("check", { kind: "rollback", error: { status: 409, error: "" } }), [
      "releases"
    ]],
    ["an action beside a deploy", failedAt("stop", { kind: "stack", error: { status: 409, error: "" } }), []],
    ["a cancelled deploy", failedAt("health", { state: "cancelled" }), ["again"]],
    ["an interrupted deploy", failedAt("upload", { state: "interrupted" }), ["again"]],
    ["a rollback", failedAt("start", { kind: "rollback" }), ["log"]],
    ["a start that failed", failedAt("start", { kind: "stack", subject: { action: "start" } }), ["log"]],
    [
      "a stack that does not exist",
      failedAt("preflight", { kind: "stack", subject: { action: "start" }, error: { status: 404, error: "" } }),
      []
    ]
  ])("mends %s", (_, run, remedies) => {
    expect(listRemedies(run)).toEqual(remedies)
  })

  it("has none for a run that goes on or succeeded, nor for one of no stack", () => {
    for (const state of ["queued", "running", "succeeded"] as const) {
      expect(listRemedies(failedAt("start", { state }))).toEqual([])
    }
    expect(listRemedies(failedAt("upsert", { kind: "upsert" }))).toEqual([])
  })
})
