import { useQuery, useQueryClient } from "@tanstack/react-query"
import {
  buildContainerSeries,
  buildSeries,
  type SeriesPoint,
  type StatsHistory,
  type StatsPoint,
  summarize,
  sumSeries
} from "../../schema/usage.ts"
import { formatBytes, formatPercent } from "../../schema/words.ts"
import { call, minPollMillis } from "../service.ts"
import { Age, Failure, Panel, Waiting } from "../ui/components.tsx"

/** Size of the view box, which is stretched to the box of the chart. */
const chartSize = { width: 300, height: 60 } as const

/** Longest time between two neighbours that a line joins: one sample may be missing. */
const gapMillis = 35_000

const margin = 2

/** Time range of a chart, and its highest value. */
interface ChartFrame {
  readonly from: number
  readonly to: number
  readonly most: number
}

/** Splits a series into runs without a gap. */
const runsOf = (series: ReadonlyArray<SeriesPoint>, { from, to }: ChartFrame) => {
  const runs: Array<Array<{ readonly at: number; readonly value: number }>> = []
  for (const { at, value } of series) {
    if (value === undefined || at < from || at > to) continue
    const run = runs.at(-1)
    if (run === undefined || at - (run.at(-1)?.at ?? 0) > gapMillis) runs.push([{ at, value }])
    else run.push({ at, value })
  }
  return runs
}

/** Draws a series as lines, with gaps where samples are missing. */
export const buildChartPath = (series: ReadonlyArray<SeriesPoint>, frame: ChartFrame): string => {
  const { from, most, to } = frame
  const x = (at: number) => ((at - from) / (to - from) * chartSize.width).toFixed(1)
  const room = chartSize.height - 2 * margin
  const y = (value: number) =>
    (chartSize.height - margin - (most > 0 ? Math.min(1, value / most) : 0) * room).toFixed(1)
  return runsOf(series, frame).map((run) => {
    const [first = "", ...others] = run.map(({ at, value }) => `${x(at)} ${y(value)}`)
    // A single sample is drawn as a dot.
    return others.length === 0 ? `M${first}h0.1` : `M${first}L${others.join("L")}`
  }).join("")
}

/** Text alternative of a chart: its numbers in words. */
const labelOf = (name: string, series: ReadonlyArray<SeriesPoint>, words: (value: number) => string): string => {
  const summary = summarize(series)
  return summary === undefined
    ? `${name} over the last half hour: not sampled`
    : `${name} over the last half hour: ${words(summary.last)} now, ${words(summary.mean)} on average, ` +
      `${words(summary.most)} at most`
}

/** Line chart of a series; its full height stands for at least `lowest`. */
const Chart = ({ from, look = "", lowest, name, series, to, words }: {
  readonly name: string
  readonly series: ReadonlyArray<SeriesPoint>
  readonly from: number
  readonly to: number
  readonly lowest: number
  readonly words: (value: number) => string
  readonly look?: "spark" | ""
}) => {
  const most = Math.max(lowest, summarize(series)?.most ?? 0)
  const label = labelOf(name, series, words)
  return (
    <svg
      className={`chart ${look}`}
      role="img"
      aria-label={label}
      viewBox={`0 0 ${chartSize.width} ${chartSize.height}`}
      preserveAspectRatio="none"
    >
      <title>{label}</title>
      <path d={buildChartPath(series, { from, to, most })} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}

/** Chart with its name and its last number. */
const NamedChart = ({ title, ...chart }: Parameters<typeof Chart>[0] & { readonly title: string }) => {
  const summary = summarize(chart.series)
  return (
    <figure className="named-chart">
      <figcaption>
        <span className="quiet">{title}</span>
        <span className="numbers">{summary === undefined ? "–" : chart.words(summary.last)}</span>
      </figcaption>
      <Chart {...chart} />
    </figure>
  )
}

const shownMinutes = 30
const shownMillis = shownMinutes * 60_000
/** Minutes to request again: earlier points are cached. */
const newMinutes = 2

/** Merges known and fresh points without duplicates; keeps those of the shown time. */
const merged = (known: ReadonlyArray<StatsPoint>, fresh: ReadonlyArray<StatsPoint>): ReadonlyArray<StatsPoint> => {
  const last = known.at(-1)?.at ?? ""
  const points = [...known, ...fresh.filter(({ at }) => at > last)]
  const to = Date.parse(points.at(-1)?.at ?? "")
  return points.filter(({ at }) => Date.parse(at) > to - shownMillis)
}

/** Fetches the usage of a server over the last half hour. Polling keeps the sampling active. */
const useUsage = (serverId: string | null) => {
  const queries = useQueryClient()
  const queryKey = ["usage", serverId]
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = queries.getQueryData<StatsHistory>(queryKey)?.points ?? []
      const isRecent = Date.parse(known.at(-1)?.at ?? "") > Date.now() - (newMinutes - 0.5) * 60_000
      const minutes = isRecent ? newMinutes : shownMinutes
      const id = serverId ?? ""
      const { everySeconds, points } = await call(
        (berth) => berth.statsHistory({ path: { id }, urlParams: { minutes } }),
        signal
      )
      return { everySeconds, points: isRecent ? merged(known, points) : points }
    },
    enabled: serverId !== null,
    refetchInterval: minPollMillis
  })
}

/** Time range of charts of these points; ends at the last point. */
const computeTimeRange = (points: ReadonlyArray<StatsPoint>) => {
  const to = Date.parse(points.at(-1)?.at ?? "")
  return { from: to - shownMillis, to }
}

/** CPU and memory of a container during the last half hour; renders nothing without samples. */
export const ContainerUsage = ({ name, serverId }: { readonly serverId: string; readonly name: string }) => {
  const points = useUsage(serverId).data?.points ?? []
  const series = buildContainerSeries(points).find((each) => each.name === name)
  if (series === undefined) return null
  const time = computeTimeRange(points)
  return (
    <div className="charts">
      <NamedChart
        {...time}
        title="CPU"
        name={`CPU of ${name}`}
        series={series.cpuPercent}
        lowest={10}
        words={formatPercent}
      />
      <NamedChart
        {...time}
        title="Memory"
        name={`Memory of ${name}`}
        series={series.memoryBytes}
        lowest={1}
        words={formatBytes}
      />
    </div>
  )
}

/** CPU of a project's containers during the last half hour, as a spark line. */
export const ProjectSpark = ({ containers, name, serverId }: {
  readonly name: string
  readonly serverId: string
  readonly containers: ReadonlyArray<string>
}) => {
  const points = useUsage(serverId).data?.points ?? []
  const own = buildContainerSeries(points).filter((series) => containers.includes(series.name))
  return own.length === 0 ? null : (
    <Chart
      {...computeTimeRange(points)}
      look="spark"
      name={`CPU of ${name}`}
      series={sumSeries(own.map(({ cpuPercent }) => cpuPercent))}
      lowest={10}
      words={formatPercent}
    />
  )
}

/** Load, memory and CPU of a server during the last half hour. */
export const ServerUsage = ({ name, serverId }: { readonly serverId: string; readonly name: string }) => {
  const { data, dataUpdatedAt, error, refetch } = useUsage(serverId)
  const points = data?.points ?? []
  const time = computeTimeRange(points)
  const { load, memory, error: last } = points.at(-1) ?? {}
  const used = buildSeries(
    points,
    ({ memory }) => memory === undefined ? undefined : memory.totalBytes - memory.freeBytes
  )
  return (
    <Panel title="Usage" note="during the last half hour" aside={<Age at={dataUpdatedAt} before="sampled " />}>
      <Failure error={error} again={refetch} />
      {last === undefined ? null : <Failure error={new Error(last)} />}
      {data === undefined
        ? error === null ? <Waiting what="the first sample" /> : null
        : (
          <div className="charts">
            <NamedChart
              {...time}
              title={`Load${load === undefined ? "" : ` of ${load.processors} CPUs`}`}
              name={`Load of ${name}`}
              series={buildSeries(points, (point) => point.load?.minute)}
              lowest={load?.processors ?? 1}
              words={(value) => value.toFixed(2)}
            />
            <NamedChart
              {...time}
              title={`Memory${memory === undefined ? "" : ` of ${formatBytes(memory.totalBytes)}`}`}
              name={`Memory of ${name}`}
              series={used}
              lowest={memory?.totalBytes ?? 1}
              words={formatBytes}
            />
            <NamedChart
              {...time}
              title="CPU of all containers"
              name={`CPU of all containers on ${name}`}
              series={sumSeries(buildContainerSeries(points).map(({ cpuPercent }) => cpuPercent))}
              lowest={10}
              words={formatPercent}
            />
          </div>
        )}
    </Panel>
  )
}
