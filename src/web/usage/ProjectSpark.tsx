import { buildContainerSeries, sumSeries } from "../../schema/usageSeries.ts"
import { Chart } from "./Chart.tsx"
import { formatPercent } from "./formatPercent.ts"
import { computeTimeRange, useUsage } from "./useUsage.ts"

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
