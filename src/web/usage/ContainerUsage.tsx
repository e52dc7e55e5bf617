import { buildContainerSeries } from "../../schema/usageSeries.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { NamedChart } from "./Chart.tsx"
import { formatPercent } from "./formatPercent.ts"
import { computeTimeRange, useUsage } from "./useUsage.ts"

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
