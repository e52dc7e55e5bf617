import { Schema } from "effect"
import { ObservedServer, ServerDisk } from "./overview.ts"
import { number, strictQuery, text } from "./validation.ts"

const bytes = (description: string) => Schema.Number.annotations({ description: `${description}, in bytes.` })

/** Current resource usage of one running container. */
export const ContainerStats = Schema.Struct({
  name: Schema.String.annotations({ description: "The container's name.", examples: ["hello-web-1"] }),
  service: Schema.String.annotations({
    description: "Its service in the compose file; empty when it belongs to no stack.",
    examples: ["web"]
  }),
  cpuPercent: Schema.Number.annotations({
    description: "Share of one CPU, so more than 100 on several.",
    examples: [1.5]
  }),
  memoryBytes: bytes("Memory in use"),
  memoryLimitBytes: bytes("The most memory that it may use"),
  networkBytes: bytes("Bytes received and sent since it was started"),
  restarts: Schema.Int.annotations({ description: "Number of restarts by Docker." }),
  startedAt: Schema.String.annotations({
    description: "When it was started last.",
    examples: ["2026-01-02T03:04:05.678Z"]
  })
}).annotations({ identifier: "ContainerStats" })
export interface ContainerStats extends Schema.Schema.Type<typeof ContainerStats> {}

/** The usage of a server's containers could not be read. */
export class StatsFailed extends Schema.TaggedError<StatsFailed>()("StatsFailed", { reason: Schema.String }) {
  readonly status = 502
  override get message() {
    return `Failed to read the containers' usage: ${this.reason}`
  }
}

/** Interval between two samples of a server, in seconds. */
export const sampleSeconds = 15

/** Retention of samples, in minutes. */
export const keptMinutes = 60

/** Sample of a container's resource usage. */
export const ContainerSample = Schema.Struct({
  name: text("The container's name.", "hello-web-1"),
  service: text("Its service in the compose file; empty when it belongs to no stack.", "web"),
  cpuPercent: number("Share of one CPU, so more than 100 on several.", 1.5),
  memoryBytes: number("Memory in use, in bytes.", 50_000_000),
  networkBytes: number("Bytes received and sent since it was started.", 1_200),
  blockBytes: number("Bytes read from and written to disks since it was started.", 4_096)
}).annotations({ identifier: "ContainerSample" })
export interface ContainerSample extends Schema.Schema.Type<typeof ContainerSample> {}

/** Sample of the resource usage of a server and its running containers. */
export const StatsPoint = Schema.Struct({
  at: text("When it was sampled, in UTC.", "2026-01-02T03:04:05.678Z"),
  load: ObservedServer.fields.load,
  memory: ObservedServer.fields.memory,
  disks: Schema.Array(ServerDisk).annotations({ description: "The file systems that deploys fill, each once." }),
  containers: Schema.Array(ContainerSample).annotations({ description: "The running containers, 500 at most." }),
  error: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "Why the server or Docker did not answer; absent where they did."
  })
}).annotations({ identifier: "StatsPoint" })
export interface StatsPoint extends Schema.Schema.Type<typeof StatsPoint> {}

/** Resource usage of a server over time. */
export const StatsHistory = Schema.Struct({
  everySeconds: number("Seconds between two samples.", sampleSeconds),
  points: Schema.Array(StatsPoint).annotations({ description: "The samples, oldest first." })
}).annotations({ identifier: "StatsHistory" })
export interface StatsHistory extends Schema.Schema.Type<typeof StatsHistory> {}

/** Query for a part of a history. */
export const StatsHistoryQuery = Schema.Struct({
  minutes: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, keptMinutes)).annotations({
      message: () => ({ message: `must be a whole number from 1 to ${keptMinutes}`, override: true }),
      jsonSchema: { type: "integer", minimum: 1, maximum: keptMinutes, default: keptMinutes }
    })
  ).annotations({ description: "Only samples of the last minutes." })
}).annotations(strictQuery)
export interface StatsHistoryQuery extends Schema.Schema.Type<typeof StatsHistoryQuery> {}

/** Sample with its time in milliseconds since 1970; `value` is undefined if it was not sampled. */
export interface SeriesPoint {
  readonly at: number
  readonly value: number | undefined
}

/** Resource usage of one container, one sample per point. */
interface ContainerSeries {
  readonly name: string
  readonly service: string
  readonly cpuPercent: ReadonlyArray<SeriesPoint>
  readonly memoryBytes: ReadonlyArray<SeriesPoint>
}

/** Extracts a series from points. */
export const buildSeries = (
  points: ReadonlyArray<StatsPoint>,
  value: (point: StatsPoint) => number | undefined
): ReadonlyArray<SeriesPoint> => points.map((point) => ({ at: Date.parse(point.at), value: value(point) }))

/** Resource usage of each container, currently running ones first. */
export const buildContainerSeries = (points: ReadonlyArray<StatsPoint>): ReadonlyArray<ContainerSeries> => {
  const found = new Map<string, ContainerSample>()
  for (const { containers } of points.toReversed()) {
    for (const container of containers) if (!found.has(container.name)) found.set(container.name, container)
  }
  const byName = points.map(({ containers }) => new Map(containers.map((container) => [container.name, container])))
  const of = (name: string, value: (container: ContainerSample) => number) =>
    points.map(({ at }, index) => {
      const container = byName[index]?.get(name)
      return { at: Date.parse(at), value: container === undefined ? undefined : value(container) }
    })
  return [...found.values()].map(({ name, service }) => ({
    name,
    service,
    cpuPercent: of(name, (container) => container.cpuPercent),
    memoryBytes: of(name, (container) => container.memoryBytes)
  }))
}

/** Adds up series of the same points; undefined for a point without a value in any series. */
export const sumSeries = (all: ReadonlyArray<ReadonlyArray<SeriesPoint>>): ReadonlyArray<SeriesPoint> =>
  (all[0] ?? []).map(({ at }, index) => {
    const values = all.flatMap((series) => series[index]?.value ?? [])
    return { at, value: values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) }
  })

/** Last, mean and highest number of a series. */
interface SeriesSummary {
  readonly last: number
  readonly mean: number
  readonly most: number
}

/** Summarizes a series; undefined if it has no value. */
export const summarize = (series: ReadonlyArray<SeriesPoint>): SeriesSummary | undefined => {
  const values = series.flatMap(({ value }) => value ?? [])
  const last = values.at(-1)
  if (last === undefined) return undefined
  return {
    last,
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    most: values.reduce((most, value) => Math.max(most, value), 0)
  }
}

/** Means of equal intervals from `from` to `to`; undefined for an interval without a value. */
export const computeMeans = (
  series: ReadonlyArray<SeriesPoint>,
  { from, parts, to }: { readonly from: number; readonly to: number; readonly parts: number }
): ReadonlyArray<number | undefined> => {
  const sums = Array.from({ length: parts }, () => ({ sum: 0, count: 0 }))
  for (const { at, value } of series) {
    if (value === undefined || at < from || at > to) continue
    const part = sums[Math.min(parts - 1, Math.floor((at - from) / (to - from) * parts))]
    if (part === undefined) continue
    part.sum += value
    part.count += 1
  }
  return sums.map(({ count, sum }) => count === 0 ? undefined : sum / count)
}
