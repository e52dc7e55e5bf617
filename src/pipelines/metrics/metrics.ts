import { Effect, Metric } from "effect"
import { maxRuns } from "../../schema/runs/Run.ts"
import { eventLoopDelay } from "../../services/metrics/eventLoopDelay.ts"
import { metricPrefix } from "../../services/metrics/metrics.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { exposition } from "./exposition.ts"

const count = (state: "queued" | "running") =>
  Effect.flatMap(Runs, (runs) => Effect.map(runs.list({ state, limit: maxRuns }), (page) => page.runs.length))

/** Numbers about this process, in Prometheus' text format. */
export const metrics = Effect.gen(function*() {
  const [queued, running] = yield* Effect.all([count("queued"), count("running")])
  const recorded = (yield* Metric.snapshot).filter(({ metricKey }) => metricKey.name.startsWith(metricPrefix))
  return exposition(recorded, [
    { name: "berth_runs_queued", help: `Runs that wait, ${maxRuns} at most.`, value: queued },
    { name: "berth_runs_running", help: `Runs that are under way, ${maxRuns} at most.`, value: running },
    ...yield* eventLoopDelay
  ])
}).pipe(Effect.withSpan("metrics"))
