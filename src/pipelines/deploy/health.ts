import type { StackStatus } from "../../schema/Deploy.ts"
import { counted } from "../../services/runs/counted.ts"
import type { ComposeService } from "../projects/composeFile.ts"
import type { ContainerState } from "../remote/inspect.ts"
import type { SeenContainer } from "./rememberStates.ts"

/** How long a container without a health check has to stay up before it counts as healthy, in milliseconds. */
export const settleMillis = 1_000
/** One that was restarted may be in a crash loop. Docker, too, takes 10 seconds without a crash for a good start. */
const restartedMillis = 10_000

/** A service, and whether it should be running. */
export type ExpectedService = Pick<ComposeService, "name" | "runs">

const worstFirst: ReadonlyArray<StackStatus> = ["missing", "exited", "unhealthy", "starting", "healthy"]

/** How long a container without a health check still has to stay up, in milliseconds. */
export const millisToSettle = ({ restarts, upMillis }: Pick<ContainerState, "restarts" | "upMillis">): number =>
  Math.max(0, (restarts > 0 ? restartedMillis : settleMillis) - upMillis)

/** What one container is doing. One that ended with 0 and is not meant to be restarted has done its work. */
export const containerStatus = (state: ContainerState): StackStatus => {
  switch (state.status) {
    case "running":
      if (state.health === "healthy" || (state.health === "" && millisToSettle(state) === 0)) return "healthy"
      // Between two crashes it looks like one that starts.
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

const oneOff = /[-_]run[-_]?[0-9a-f]{12}$/

/**
 * The containers that say something of a stack: not those of commands that were run once, not those of services that
 * are held back, and of services that the file does not name only what runs.
 */
const telling = <State extends ContainerState>(
  services: ReadonlyArray<ExpectedService>,
  containers: ReadonlyArray<State>
) =>
  containers.filter(({ name, service, status }) => {
    if (oneOff.test(name)) return false
    const known = services.find((one) => one.name === service)
    return known === undefined ? !["created", "exited", "dead"].includes(status) : known.runs
  })

/** What a stack is doing: the worst of its containers, or `missing` where a service that should run has none. */
export const stackStatus = (
  services: ReadonlyArray<ExpectedService>,
  containers: ReadonlyArray<ContainerState>
): StackStatus => {
  const present = new Set(containers.map(({ service }) => service))
  const statuses = telling(services, containers).map(containerStatus)
  const all: ReadonlyArray<StackStatus> = services.some(({ name, runs }) => runs && !present.has(name))
    ? ["missing", ...statuses]
    : statuses
  return worstFirst.find((status) => all.includes(status)) ?? "missing"
}

/** The containers that keep a stack from being healthy. */
export const ailingContainers = <State extends ContainerState>(
  services: ReadonlyArray<ExpectedService>,
  containers: ReadonlyArray<State>
): ReadonlyArray<State> => telling(services, containers).filter((state) => containerStatus(state) !== "healthy")

/** How often a container was restarted, and what it ended with before that; empty for one that never ended. */
export const restartNotes = ({ lastExit, restarts }: Pick<SeenContainer, "lastExit" | "restarts">) => [
  ...restarts === 0 ? [] : [counted(restarts, "restart")],
  ...lastExit === undefined ? [] : [`last exit code ${lastExit}`]
]

/** Which containers keep a stack from being healthy, in words. */
export const complaints = (
  services: ReadonlyArray<ExpectedService>,
  containers: ReadonlyArray<SeenContainer>
): string => {
  const present = new Set(containers.map(({ service }) => service))
  const missing = services.filter(({ name, runs }) => runs && !present.has(name)).map(({ name }) =>
    `${name} is missing`
  )
  const ailing = ailingContainers(services, containers).map((state) => {
    const status = containerStatus(state)
    const isOver = status === "exited"
    const notes = restartNotes(isOver ? { ...state, lastExit: undefined } : state)
    return `${state.name} ${isOver ? `exited with code ${state.exitCode}` : `is ${status}`}` +
      (notes.length === 0 ? "" : ` (${notes.join(", ")})`)
  })
  return [...missing, ...ailing].join(", ")
}
