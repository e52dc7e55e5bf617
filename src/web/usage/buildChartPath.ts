import type { SeriesPoint } from "../../schema/usageSeries.ts"

/** Size of the view box, which is stretched to the box of the chart. */
export const chartSize = { width: 300, height: 60 } as const

/** Longest time between two neighbours that a line joins: one sample may be missing. */
const gapMillis = 35_000

const margin = 2

/** Time range of a chart, and its highest value. */
export interface ChartFrame {
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
