import type { ObservedProject } from "../../schema/Overview.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { formatCount } from "../format/format.ts"
import { useCall, useContainers } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Empty } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { toContainerTone } from "../ui/tone.ts"
import { ContainerUsage } from "../usage/lazyUsage.tsx"
import { formatPublishedPorts } from "./state/projectState.ts"

/** Containers of a project, including stopped ones, with their state, ports and usage. */
export const Services = ({ observed, serverId }: {
  readonly observed: ObservedProject | undefined
  readonly serverId: string
}) => {
  const [stack] = observed?.servers ?? []
  const states = stack?.containerStates ?? []
  const running = useContainers(serverId).data?.containers ?? []
  const stats = useCall(["stats", serverId], (berth) => berth.serverStats({ path: { id: serverId } }), {
    enabled: (stack?.containers?.up ?? 0) > 0,
    every: 15_000
  })
  return (
    <Panel
      title="Services"
      note={observed === undefined ? undefined : formatCount(states.length, "container")}
      aside={stack === undefined ? undefined : <Age at={stack.observedAt} before="seen " />}
    >
      {observed !== undefined && states.length === 0
        ? <Empty title="Nothing of it is on the server" icon="box">A deploy starts its services.</Empty>
        : null}
      <ul className="rows services">
        {states.map(({ name, status }) => {
          const ports = formatPublishedPorts(running.filter((container) => container.name === name))
          const used = stats.data?.containers.find((container) => container.name === name)
          return (
            <li key={name}>
              <span className="strong">{name}</span>
              <span>
                <Badge tone={toContainerTone(status)}>{status}</Badge>
              </span>
              <span>{ports === "" ? <span className="quiet">no port</span> : <code>{ports}</code>}</span>
              <span className="numbers quiet">
                {used === undefined
                  ? ""
                  : `${used.cpuPercent.toFixed(1)} % CPU · ${formatBytes(used.memoryBytes)}`}
              </span>
              <span className="numbers quiet">
                {used === undefined || used.restarts === 0 ? "" : formatCount(used.restarts, "restart")}
              </span>
              <ContainerUsage serverId={serverId} name={name} />
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}
