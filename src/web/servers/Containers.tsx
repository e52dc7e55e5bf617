import type { UseQueryResult } from "@tanstack/react-query"
import type { Container } from "../../schema/servers/Container.ts"
import { isUp } from "../../schema/servers/containerStatus.ts"
import type { ContainerStats } from "../../schema/servers/Stats.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { formatPublishedPorts } from "../projects/state/projectState.ts"
import { useCall } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Scroll } from "../ui/Scroll.tsx"
import { toContainerTone } from "../ui/tone.ts"

const Meter = ({ label, max, value, words }: {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly words: string
}) => (
  <span className="meter numbers">
    <progress max={max > 0 ? max : 1} value={Math.min(value, max)} aria-label={label} />
    {words}
  </span>
)

const Row = ({ container, isRead, onRead, stats }: {
  readonly container: Container
  readonly stats: ContainerStats | undefined
  readonly isRead: boolean
  readonly onRead: () => void
}) => {
  const { name, status } = container
  const unmeasured = <span className="quiet">{isUp(status) ? "…" : "–"}</span>
  return (
    <tr>
      <td className="strong">{name}</td>
      <td>
        <Badge tone={toContainerTone(status)}>{status}</Badge>
      </td>
      <td data-label="CPU">
        {stats === undefined
          ? unmeasured
          : (
            <Meter
              label={`CPU of ${name}`}
              value={stats.cpuPercent}
              max={100}
              words={`${stats.cpuPercent.toFixed(1)} %`}
            />
          )}
      </td>
      <td data-label="Memory">
        {stats === undefined ? unmeasured : (
          <Meter
            label={`Memory of ${name}`}
            value={stats.memoryBytes}
            max={stats.memoryLimitBytes}
            words={formatBytes(stats.memoryBytes)}
          />
        )}
      </td>
      <td className="numbers" data-label="Restarts">{stats === undefined ? "" : stats.restarts}</td>
      <td data-label="Ports">
        <code>{formatPublishedPorts([container]) || "–"}</code>
      </td>
      <td className="end">
        <Button look={isRead ? "on small" : "small"} onClick={onRead}>Log</Button>
      </td>
    </tr>
  )
}

/** Containers of a server, including stopped ones, with their resource usage and logs. */
export const Containers = ({ containers: { data, error }, onRead, reading, serverId }: {
  readonly serverId: string
  readonly containers: UseQueryResult<{ readonly containers: ReadonlyArray<Container> }, Error>
  readonly reading: string | undefined
  readonly onRead: (name: string | undefined) => void
}) => {
  const stats = useCall(["stats", serverId], (berth) => berth.serverStats({ path: { id: serverId } }), {
    enabled: data?.containers.some(({ status }) => isUp(status)) === true,
    every: 15_000
  })
  if (data === undefined) {
    return error === null
      ? (
        <Panel title="Containers">
          <Waiting what="the containers" />
        </Panel>
      )
      : null
  }
  const running = data.containers.filter(({ status }) => isUp(status))
  const ended = data.containers.length - running.length
  return (
    <Panel
      title="Containers"
      note={`${running.length} running${ended === 0 ? "" : `, ${ended} not`}`}
      aside={<Age at={stats.dataUpdatedAt} before="measured " />}
    >
      <Failure error={stats.error} again={stats.refetch} />
      {data.containers.length === 0 ?
        <Empty title="No container is here">A deploy starts the first stack.</Empty> :
        (
          <Scroll label="Table of containers">
            <table className="keep cards">
              <thead>
                <tr>
                  <th>Container</th>
                  <th>State</th>
                  <th>CPU</th>
                  <th>Memory</th>
                  <th>Restarts</th>
                  <th>Ports</th>
                  <th className="end">
                    <span className="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {[...running, ...data.containers.filter(({ status }) => !isUp(status))].map((container) => (
                  <Row
                    key={container.name}
                    container={container}
                    stats={stats.data?.containers.find(({ name }) => name === container.name)}
                    isRead={reading === container.name}
                    onRead={() => onRead(reading === container.name ? undefined : container.name)}
                  />
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
    </Panel>
  )
}
