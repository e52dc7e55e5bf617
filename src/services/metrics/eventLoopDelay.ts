import { Effect } from "effect"
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks"

/** Metric that is read on demand. */
export interface Gauge {
  readonly name: string
  readonly help: string
  readonly value: number
}

const seconds = (nanoseconds: number) => Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0

/**
 * Makes a reader of the event loop delay since the previous reading; 0 at the first one. Measuring starts with the
 * first reading, because each measurement wakes the process.
 */
export const makeEventLoopDelay = (): Effect.Effect<ReadonlyArray<Gauge>> => {
  let histogram: IntervalHistogram | undefined
  return Effect.sync(() => {
    if (histogram === undefined) {
      histogram = monitorEventLoopDelay({ resolution: 20 })
      histogram.enable()
    }
    const measured = histogram.count > 0
    const gauge = (part: string, help: string, value: number): Gauge => ({
      name: `berth_event_loop_delay_${part}_seconds`,
      help: `${help} delay of the event loop since the metrics were read before.`,
      value: measured ? seconds(value) : 0
    })
    const gauges = [
      gauge("mean", "Mean", histogram.mean),
      gauge("p99", "99th percentile of the", histogram.percentile(99)),
      gauge("max", "Longest", histogram.max)
    ]
    histogram.reset()
    return gauges
  })
}
