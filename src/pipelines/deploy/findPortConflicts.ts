import type { PortRange } from "../../remote/deploy/portRange.ts"
import type { OccupiedPorts } from "../../remote/deploy/preflightCommand.ts"
import { isOverlapping } from "../projects/compose/publishedPorts.ts"
import type { DeployPlan } from "./planDeploy.ts"

const words = (one: PortRange, other: PortRange): string => {
  const [first, last] = [Math.max(one.first, other.first), Math.min(one.last, other.last)]
  const protocol = one.protocol === "tcp" ? "" : `/${one.protocol}`
  return first === last ? `port ${first}${protocol}` : `ports ${first} to ${last}${protocol}`
}

/** Server ports that services publish but containers of other stacks already use. */
export const findPortConflicts = (
  { compose }: Pick<DeployPlan, "compose">,
  taken: ReadonlyArray<OccupiedPorts>,
  server: string
): ReadonlyArray<string> => {
  const found = compose.services.filter(({ runs }) => runs).flatMap(({ name, ports }) =>
    ports.flatMap((port) =>
      taken.flatMap(({ container, directory, ranges }) => {
        const owner = directory === ""
          ? `the container ${container}`
          : `the stack in ${directory} (container ${container})`
        return ranges.filter((range) => isOverlapping(port, range)).map((range) =>
          `${words(port, range)} of the service ${name} is taken on "${server}" by ${owner}: publish another port in ` +
          `${compose.fileName}, or stop that container`
        )
      })
    )
  )
  return [...new Set(found)]
}
