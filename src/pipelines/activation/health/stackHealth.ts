import type { ContainerState } from "../../../remote/stack/inspectCommand.ts"
import type { StackStatus } from "../../../schema/deploy/Deploy.ts"
import { pluralize } from "../../../schema/words/pluralize.ts"
import type { ComposeService } from "../../projects/compose/composeFile.ts"
import type { RememberedContainer } from "./rememberStates.ts"

/** Uptime after which a container without a health check counts as healthy, in milliseconds. */
export const stableAfterMillis = 1_000
/**
 * Minimum uptime after a restart, which may be part of a crash loop. Docker also takes 10 seconds without a crash for a
 * good start.
 */
const restartedMillis = 10_000

/** A service, and whether it should be running. */
export interface ExpectedService extends Pick<ComposeService, "name" | "runs"> {
  /** Name of the bridge container that counts as the service's container; other bridges are ignored. */
  readonly bridge?: string
}

const worstFirst: ReadonlyArray<StackStatus> = ["missing", "exited", "unhealthy", "starting", "healthy"]

/** Remaining uptime until a container without a health check counts as healthy, in milliseconds. */
export const computeMillisUntilStable = (
  { restarts, upMillis }: Pick<ContainerState, "restarts" | "upMillis">
): number => Math.max(0, (restarts > 0 ? restartedMillis : stableAfterMillis) - upMillis)

/** Status of one container. One that exited with 0 and has no restart to come is complete. */
export const computeContainerStatus = (state: ContainerState): StackStatus => {
  switch (state.status) {
    case "running":
      if (state.health === "healthy" || (state.health === "" && computeMillisUntilStable(state) === 0)) return "healthy"
      // Between two crashes it looks like a starting container.
      return state.health === "unhealthy" || state.restarts > 0 ? "unhealthy" : "starting"
    case "created":
      return "starting"
    case "exited":
      return state.exitCode === 0 && ["", "no", "on-failure"].includes(state.restartPolicy) ? "healthy" : "exited"
    case "restarting":
    case "paused":
      return "unhealthy"
    default:
      return "exited"
  }
}

const bridgeName = /-bridge-[0-9a-f]{12}$/
const oneOff = /[-_](?:run[-_]?|bridge-)[0-9a-f]{12}$/

/**
 * Containers that determine the status of a stack. Excludes one-off containers and services that are held back.
 * Services that the file does not name count only while they run.
 */
const relevantContainers = <State extends ContainerState>(
  services: ReadonlyArray<ExpectedService>,
  containers: ReadonlyArray<State>
) =>
  containers.filter(({ name, service, status }) => {
    const known = services.find((one) => one.name === service)
    if (oneOff.test(name) && known?.bridge !== name) return false
    return known === undefined ? !["created", "exited", "dead"].includes(status) : known.runs
  })

/** Names of services that have a container other than a bridge. */
const presentServices = (services: ReadonlyArray<ExpectedService>, containers: ReadonlyArray<ContainerState>) => {
  const bridges = new Set(services.map(({ bridge }) => bridge))
  return new Set(
    containers.filter(({ name }) => !bridgeName.test(name) || bridges.has(name)).map(({ service }) => service)
  )
}

/**
 * Status of a stack: the worst status of its containers, or `missing` if a service that should run has no container.
 */
export const computeStackStatus = (
  services: ReadonlyArray<ExpectedService>,
  containers: ReadonlyArray<ContainerState>
): StackStatus => {
  const present = presentServices(services, containers)
  const statuses = relevantContainers(services, containers).map(computeContainerStatus)
  const all: ReadonlyArray<StackStatus> = services.some(({ name, runs }) => runs && !present.has(name))
    ? ["missing", ...statuses]
    : statuses
  return worstFirst.find((status) => all.includes(status)) ?? "missing"
}

/** The containers that keep a stack from being healthy. */
export const findUnhealthyContainers = <State extends ContainerState>(
  services: ReadonlyArray<ExpectedService>,
  containers: ReadonlyArray<State>
): ReadonlyArray<State> =>
  relevantContainers(services, containers).filter((state) => computeContainerStatus(state) !== "healthy")

/** Restart count and last exit code of a container; empty for one that never exited. */
export const describeRestarts = ({ lastExit, restarts }: Pick<RememberedContainer, "lastExit" | "restarts">) => [
  ...restarts === 0 ? [] : [pluralize(restarts, "restart")],
  ...lastExit === undefined ? [] : [`last exit code ${lastExit}`]
]

/** Describes the containers that keep a stack from being healthy. */
export const describeComplaints = (
  services: ReadonlyArray<ExpectedService>,
  containers: ReadonlyArray<RememberedContainer>
): string => {
  const present = presentServices(services, containers)
  const missing = services.filter(({ name, runs }) => runs && !present.has(name)).map(({ name }) =>
    `${name} is missing`
  )
  const unhealthy = findUnhealthyContainers(services, containers).map((state) => {
    const status = computeContainerStatus(state)
    const isOver = status === "exited"
    const notes = describeRestarts(isOver ? { ...state, lastExit: undefined } : state)
    return `${state.name} ${isOver ? `exited with code ${state.exitCode}` : `is ${status}`}` +
      (notes.length === 0 ? "" : ` (${notes.join(", ")})`)
  })
  return [...missing, ...unhealthy].join(", ")
}
