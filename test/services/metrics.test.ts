import { expect, it } from "@effect/vitest"
import { Effect, Metric, MetricState } from "effect"
import type { RunStep } from "../../src/schema/runs.ts"
import { countRun } from "../../src/services/metrics.ts"
import { at, run } from "../fixtures/programs/runView.ts"

/** Counts by name and labels; a process of many tests may have two series of the same ones. */
const counts = Effect.map(Metric.snapshot, (pairs) => {
  const found = new Map<string, number>()
  for (const { metricKey: { name, tags }, metricState } of pairs) {
    if (!MetricState.isCounterState(metricState) && !MetricState.isHistogramState(metricState)) continue
    const labels = tags.map(({ key, value }) => `${key}=${value}`).sort()
    const series = [name, ...labels].join(" ")
    found.set(series, (found.get(series) ?? 0) + Number(metricState.count))
  }
  return found
})
/** Series that an effect counts, and by how much; other tests of the process count too. */
const countedBy = (effect: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const before = yield* counts
    yield* effect
    const differences = [...yield* counts].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
    return Object.fromEntries(differences.filter(([, more]) => more !== 0))
  })
const stepNamed = (step: string): RunStep => ({ step, status: "done", detail: "", startedAt: at, endedAt: at })

it.effect("counts runs once they have ended, and names of steps that are not known together", () =>
  Effect.gen(function*() {
    expect(yield* countedBy(countRun(run))).toEqual({})
    const steps = ["upload", ...Array.from({ length: 1_000 }, (_, index) => `odd ${index}`)].map(stepNamed)
    expect(yield* countedBy(countRun({ ...run, state: "failed", steps }))).toEqual({
      "berth_runs_total end=failed kind=deploy": 1,
      "berth_step_duration_seconds kind=deploy step=other": 1_000,
      "berth_step_duration_seconds kind=deploy step=upload": 1
    })
  }))
