import { buildContainerSeries, buildSeries, sumSeries } from "../../schema/usageSeries.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { Age } from "../ui/Age.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { NamedChart } from "./Chart.tsx"
import { formatPercent } from "./formatPercent.ts"
import { computeTimeRange, useUsage } from "./useUsage.ts"

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
