import { Effect, Metric } from "effect"
import { metricPrefix } from "../../services/metrics/metrics.ts"
import { formatMetrics } from "./exposition.ts"
import { makeGauges } from "./gauges.ts"

// Measures the event loop since the last scrape, independent of exports.
const gauges = makeGauges()

/** Metrics of this process in Prometheus' text format. */
export const metrics = Effect.gen(function*() {
  const read = yield* gauges
  const isCounted = (name: string) => name.startsWith(metricPrefix) && read.every((gauge) => gauge.name !== name)
  const recorded = (yield* Metric.snapshot).filter(({ metricKey }) => isCounted(metricKey.name))
  return formatMetrics(recorded, read)
}).pipe(Effect.withSpan("metrics"))
