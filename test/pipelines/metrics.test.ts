import { describe, expect, it } from "@effect/vitest"
import { Effect, Metric, MetricBoundaries } from "effect"
import { escapeLabel, formatMetrics } from "../../src/pipelines/metrics.ts"
import { samplesIn } from "../fixtures/network/prometheus.ts"

const recorded = Effect.map(
  Metric.snapshot,
  (pairs) => pairs.filter(({ metricKey }) => metricKey.name.startsWith("expo_"))
)

describe("the exposition of metrics", () => {
  it.effect("has counters, gauges and cumulative buckets by the grammar of the format", () =>
    Effect.gen(function*() {
      const total = Metric.counter("expo_total", { description: "All\nof \\ them", incremental: true })
      const hostile = "a\"b\\c\nd{} 1"
      yield* Metric.increment(Metric.tagged(total, "name", hostile))
      yield* Metric.incrementBy(Metric.tagged(total, "name", "plain"), 2)
      const time = Metric.tagged(
        Metric.histogram("expo_seconds", MetricBoundaries.fromIterable([0.1, 1])),
        "step",
        "load"
      )
      for (const value of [0.05, 0.5, 0.6, 7]) yield* Metric.update(time, value)
      const text = formatMetrics(yield* recorded, [{ name: "expo_now", help: "Now", value: 1.5 }])
      const { samples, types } = samplesIn(text)
      expect(types).toEqual({ expo_total: "counter", expo_seconds: "histogram", expo_now: "gauge" })
      expect(text).toContain("# HELP expo_total All\\nof \\\\ them\n")
      expect(samples).toEqual(expect.arrayContaining([
        { name: "expo_total", labels: { name: hostile }, value: 1 },
        { name: "expo_total", labels: { name: "plain" }, value: 2 },
        { name: "expo_seconds_count", labels: { step: "load" }, value: 4 },
        { name: "expo_now", labels: {}, value: 1.5 }
      ]))
      expect(samples.filter(({ name }) => name === "expo_seconds_bucket")).toEqual([
        { name: "expo_seconds_bucket", labels: { step: "load", le: "0.1" }, value: 1 },
        { name: "expo_seconds_bucket", labels: { step: "load", le: "1" }, value: 3 },
        { name: "expo_seconds_bucket", labels: { step: "load", le: "+Inf" }, value: 4 }
      ])
    }))

  it("escapes the values of labels", () => {
    expect(escapeLabel("a\"\\\n")).toBe("a\\\"\\\\\\n")
  })
})
