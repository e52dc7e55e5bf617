import { expect, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import type { RunStep } from "../../../src/schema/runs/Run.ts"
import { countRun } from "../../../src/services/metrics/metrics.ts"
import { at, run } from "../../fixtures/runView.ts"

const series = Effect.map(
  Metric.snapshot,
  (pairs) =>
    pairs.filter(({ metricKey }) => metricKey.name.startsWith("berth_")).flatMap(({ metricKey: { name, tags } }) =>
      tags.map(({ value }) => `${name} ${value}`)
    )
)
const stepNamed = (step: string): RunStep => ({ step, status: "done", detail: "", startedAt: at, endedAt: at })

it.effect("counts runs once they have ended, and names of steps that are not known together", () =>
  Effect.gen(function*() {
    yield* countRun(run)
    expect(yield* series).toEqual([])
    const steps = ["upload", ...Array.from({ length: 1_000 }, (_, index) => `odd ${index}`)].map(stepNamed)
    yield* countRun({ ...run, state: "failed", steps })
    expect([...new Set(yield* series)].sort()).toEqual([
      "berth_runs_total deploy",
      "berth_runs_total failed",
      "berth_step_duration_seconds deploy",
      "berth_step_duration_seconds other",
      "berth_step_duration_seconds upload"
    ])
  }))
