import { type SeriesPoint, summarize } from "../../schema/usageSeries.ts"
import { buildChartPath, chartSize } from "./buildChartPath.ts"

/** Text alternative of a chart: its numbers in words. */
const labelOf = (name: string, series: ReadonlyArray<SeriesPoint>, words: (value: number) => string): string => {
  const summary = summarize(series)
  return summary === undefined
    ? `${name} over the last half hour: not sampled`
    : `${name} over the last half hour: ${words(summary.last)} now, ${words(summary.mean)} on average, ` +
      `${words(summary.most)} at most`
}

/** Line chart of a series; its full height stands for at least `lowest`. */
export const Chart = ({ from, look = "", lowest, name, series, to, words }: {
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
export const NamedChart = ({ title, ...chart }: Parameters<typeof Chart>[0] & { readonly title: string }) => {
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
