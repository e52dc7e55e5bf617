import { Effect, Metric } from "effect"
import { type Gauge, makeEventLoopDelay } from "../../services/metrics/eventLoopDelay.ts"
import { Runs } from "../../services/runs/Runs.ts"

/** Makes a reader of the numbers that are not counted but looked up. */
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

/** Records these numbers beside the counted ones, for the export; while the store is away, those of before stay. */
export const recordGauges = gauges.pipe(
  Effect.flatMap(Effect.forEach(
    ({ help, name, value }) => Metric.set(Metric.gauge(name, { description: help }), value),
    { discard: true }
  )),
  Effect.ignore
)
