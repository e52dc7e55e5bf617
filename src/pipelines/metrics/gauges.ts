import { Effect, Metric } from "effect"
import { type Gauge, makeEventLoopDelay } from "../../services/metrics/eventLoopDelay.ts"
import { Runs } from "../../services/runs/Runs.ts"

/** Creates a reader of the gauges, which are sampled and not counted. */
export const makeGauges = () => {
  const eventLoopDelay = makeEventLoopDelay()
  return Effect.gen(function*() {
    const { queued, running } = yield* (yield* Runs).count
    return [
      { name: "berth_runs_queued", help: "Runs that wait.", value: queued },
      { name: "berth_runs_running", help: "Runs that are under way.", value: running },
      ...yield* eventLoopDelay
    ] satisfies ReadonlyArray<Gauge>
  })
}

const gauges = makeGauges()

/** Records the gauges next to the counters for the export; keeps the previous values while the store is unavailable. */
export const recordGauges = gauges.pipe(
  Effect.flatMap(Effect.forEach(
    ({ help, name, value }) => Metric.set(Metric.gauge(name, { description: help }), value),
    { discard: true }
  )),
  Effect.ignore
)
