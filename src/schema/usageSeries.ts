import type { ContainerSample, StatsPoint } from "./StatsHistory.ts"

/** Sample with its time in milliseconds since 1970; `value` is undefined if it was not sampled. */
export interface SeriesPoint {
  readonly at: number
  readonly value: number | undefined
}

/** Resource usage of one container, one sample per point. */
export interface ContainerSeries {
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
export interface SeriesSummary {
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
