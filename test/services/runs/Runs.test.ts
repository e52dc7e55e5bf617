import { expect, it } from "vitest"
import type { Run, RunStep } from "../../../src/schema/runs.ts"
import { endRun } from "../../../src/services/runs/Runs.ts"

const at = "2026-01-02T03:04:05.678Z"
const endedAt = "2026-01-02T03:05:05.678Z"
const step = (status: RunStep["status"], ended: string | null): RunStep => ({
  step: status,
  status,
  detail: "as it was",
  startedAt: at,
  endedAt: ended
})
const run: Run = {
  id: "01m80yqq5mpfzvahn1sfvx7mvm",
  kind: "deploy",
  subject: {},
  state: "running",
  requestedBy: { door: "cli", name: "ann" },
  requestedAt: at,
  startedAt: at,
  endedAt: null,
  waitsFor: { id: "1", kind: "deploy", subject: {}, requestedBy: { door: "cli", name: "ann" } },
  steps: [step("done", at), step("running", null)],
  result: null,
  error: null
}

it.each(
  [
    ["interrupted", null, { status: "error", detail: "interrupted" }],
    ["cancelled", null, { status: "error", detail: "cancelled" }],
    ["failed", null, { status: "error", detail: "failed" }],
    ["failed", { healthy: false }, { status: "done", detail: "came to its end while no service waited for it" }],
    ["succeeded", null, { status: "done", detail: "came to its end while no service waited for it" }]
  ] as const
)("nothing runs or waits in a run that is %s with the result %j", (state, result, end) => {
  const ended = endRun(run, { state, result, error: null, endedAt })
  expect(ended).not.toHaveProperty("waitsFor")
  expect(ended).toMatchObject({ id: run.id, state, result, endedAt })
  expect(ended.steps).toEqual([step("done", at), { ...step("running", endedAt), ...end }])
})
