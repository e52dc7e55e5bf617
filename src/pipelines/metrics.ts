import { Effect, Metric, MetricKeyType, type MetricPair, MetricState, Option } from "effect"
import { type Gauge, makeEventLoopDelay, metricPrefix } from "../services/metrics.ts"
import { Runs } from "../services/runs/Runs.ts"

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

const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/

const escapeHelp = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")

/** Escapes the value of a label for the exposition format. */
export const escapeLabel = (text: string): string => escapeHelp(text).replaceAll("\"", "\\\"")

const labelsOf = (labels: ReadonlyArray<readonly [name: string, value: string]>): string => {
  const known = labels.filter(([name]) => labelName.test(name))
  return known.length === 0 ? "" : `{${known.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(",")}}`
}

const numberText = (value: number | bigint): string =>
  value === Number.POSITIVE_INFINITY
    ? "+Inf"
    : value === Number.NEGATIVE_INFINITY
    ? "-Inf"
    : String(value)

type Pair = MetricPair.MetricPair.Untyped

const typeOf = ({ metricKey: { keyType } }: Pair): string | undefined =>
  MetricKeyType.isCounterKey(keyType)
    ? "counter"
    : MetricKeyType.isGaugeKey(keyType)
    ? "gauge"
    : MetricKeyType.isHistogramKey(keyType)
    ? "histogram"
    : undefined

const linesOf = ({ metricKey, metricState }: Pair): ReadonlyArray<string> => {
  const { name } = metricKey
  const labels = metricKey.tags.map(({ key, value }) => [key, value] as const).toSorted(([one], [other]) =>
    one < other ? -1 : 1
  )
  if (MetricState.isCounterState(metricState)) return [`${name}${labelsOf(labels)} ${numberText(metricState.count)}`]
  if (MetricState.isGaugeState(metricState)) return [`${name}${labelsOf(labels)} ${numberText(metricState.value)}`]
  if (!MetricState.isHistogramState(metricState)) return []
  const { buckets, count, sum } = metricState
  const finite = [...buckets].filter(([boundary]) => Number.isFinite(boundary))
  return [
    ...finite.map(([boundary, within]) =>
      `${name}_bucket${labelsOf([...labels, ["le", numberText(boundary)]])} ${within}`
    ),
    `${name}_bucket${labelsOf([...labels, ["le", "+Inf"]])} ${count}`,
    `${name}_sum${labelsOf(labels)} ${numberText(sum)}`,
    `${name}_count${labelsOf(labels)} ${count}`
  ]
}

const head = (name: string, help: string, type: string) => [
  ...help === "" ? [] : [`# HELP ${name} ${escapeHelp(help)}`],
  `# TYPE ${name} ${type}`
]

/** Writes metrics in Prometheus' text format, grouped by name. */
export const formatMetrics = (pairs: ReadonlyArray<Pair>, gauges: ReadonlyArray<Gauge>): string => {
  const names = [...new Set(pairs.map(({ metricKey }) => metricKey.name))].toSorted()
  const families = names.flatMap((name) => {
    const family = pairs.filter(({ metricKey }) => metricKey.name === name)
    const [first] = family
    const type = first === undefined ? undefined : typeOf(first)
    if (first === undefined || type === undefined) return []
    const help = Option.getOrElse(first.metricKey.description, () => "")
    return [...head(name, help, type), ...family.flatMap(linesOf)]
  })
  const single = gauges.flatMap(({ help, name, value }) => [
    ...head(name, help, "gauge"),
    `${name} ${numberText(value)}`
  ])
  return [...families, ...single, ""].join("\n")
}

// Measures the event loop since the last scrape, independent of exports.

/** Metrics of this process in Prometheus' text format. */
export const metrics = Effect.gen(function*() {
  const read = yield* gauges
  const isCounted = (name: string) => name.startsWith(metricPrefix) && read.every((gauge) => gauge.name !== name)
  const recorded = (yield* Metric.snapshot).filter(({ metricKey }) => isCounted(metricKey.name))
  return formatMetrics(recorded, read)
}).pipe(Effect.withSpan("metrics"))
