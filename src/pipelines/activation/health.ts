import { Clock, Duration, Effect, Option } from "effect"
import type { RemoteRelease } from "../../remote/releases.ts"
import { type ContainerState, exitsCommand, inspectCommand, parseExits, parseInspect } from "../../remote/stack.ts"
import type { StackStatus } from "../../schema/deploys.ts"
import type { ServerAccess, SshError } from "../../schema/ssh.ts"
import type { Stack } from "../../schema/stacks.ts"
import { pluralize } from "../../schema/words.ts"
import type { StepOutcome } from "../../services/runs/Steps.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import type { ComposeService } from "../projects/compose.ts"
import { readReleases } from "../servers/servers.ts"

/** Timeout of the wait for a healthy stack, and the interval between inspections. */
export interface HealthOptions {
  readonly timeout: Duration.Duration
  readonly interval: Duration.Duration
}

/** Health options of a stack: the project's own timeout (`container.json`) takes precedence over the setting. */
export const readHealthOptions = (
  ofProject: Option.Option<Duration.Duration> = Option.none()
): Effect.Effect<HealthOptions, SettingsError, Settings> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const interval = yield* settings.get("deploy.healthInterval")
    const timeout = Option.isSome(ofProject) ? ofProject.value : yield* settings.get("deploy.healthTimeout")
    return { interval, timeout }
  })

/** Health options of a release, whose manifest records the project's timeout. */
export const readReleaseHealthOptions = ({ manifest: { healthMillis } }: Pick<RemoteRelease, "manifest">) =>
  readHealthOptions(Option.map(healthMillis, Duration.millis))

/** State with the last known exit code, since a container that runs again no longer shows one. */
export interface RememberedContainer extends ContainerState {
  /** Last exit code, if an inspection has seen one. */
  readonly lastExit: number | undefined
}

const hasEnded = ({ status }: ContainerState) => status === "restarting" || status === "exited" || status === "dead"

/** Keeps the highest restart count and the last exit code of each container, and adds them to later inspections. */
const rememberStates = () => {
  const memory = new Map<string, Pick<RememberedContainer, "lastExit" | "restarts">>()
  return (states: ReadonlyArray<ContainerState>): ReadonlyArray<RememberedContainer> =>
    states.map((state) => {
      const before = memory.get(state.id)
      const now = {
        restarts: Math.max(state.restarts, before?.restarts ?? 0),
        lastExit: hasEnded(state) ? state.exitCode : before?.lastExit
      }
      memory.set(state.id, now)
      return { ...state, ...now }
    })
}

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
const computeMillisUntilStable = (
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
const findUnhealthyContainers = <State extends ContainerState>(
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

const shortestPause = 50

/** State of a stack when the wait ended. */
export interface StackHealth {
  readonly status: StackStatus
  /** Reasons why it is not healthy; empty if it is. */
  readonly complaints: string
  /** The containers that keep it from being healthy. */
  readonly unhealthy: ReadonlyArray<RememberedContainer>
  readonly waited: Duration.Duration
}

/**
 * Inspects a stack until it is healthy or the time is up; retries failed inspections until then. Signs of a crash loop
 * in any inspection also count in the last one.
 */
export const awaitHealth = Effect.fn("deploy.awaitHealth")(function*(
  server: ServerAccess,
  services: ReadonlyArray<ExpectedService>,
  first: ReadonlyArray<ContainerState>,
  { interval, timeout }: HealthOptions
): Effect.fn.Return<StackHealth, SshError, Ssh> {
  const ssh = yield* Ssh
  const began = yield* Clock.currentTimeMillis
  const ids = first.map(({ id }) => id)
  const inspect = Effect.map(
    ssh.exec(server, inspectCommand(ids, server.useSudo), { timeout: "30 seconds" }),
    ({ stdout }) => parseInspect(stdout)
  )

  const remember = rememberStates()
  /** Adds exit codes that the inspections missed: a container can crash and restart between two of them. */
  const withExits = (seen: ReadonlyArray<RememberedContainer>) => {
    const asked = seen.filter(({ lastExit, restarts }) => restarts > 0 && lastExit === undefined).map(({ id }) => id)
    return asked.length === 0 ? Effect.succeed(seen) : ssh.exec(server, exitsCommand(asked, server.useSudo), {
      timeout: "10 seconds"
    }).pipe(
      Effect.map(({ stdout }) => parseExits(stdout)),
      Effect.map((exits) => seen.map((state) => ({ ...state, lastExit: state.lastExit ?? exits.get(state.id) }))),
      Effect.orElseSucceed(() => seen)
    )
  }

  const judge = (states: ReadonlyArray<ContainerState>): Effect.Effect<StackHealth, SshError> =>
    Effect.gen(function*() {
      const seen = remember(states)
      const status = computeStackStatus(services, seen)
      const waited = Duration.millis((yield* Clock.currentTimeMillis) - began)
      if (status === "healthy" || ids.length === 0 || Duration.greaterThanOrEqualTo(waited, timeout)) {
        const told = status === "healthy" ? seen : yield* withExits(seen)
        return {
          status,
          complaints: describeComplaints(services, told),
          unhealthy: findUnhealthyContainers(services, told),
          waited
        }
      }
      const left = Duration.subtract(timeout, waited)
      // Containers without a health check only need enough uptime, so they are inspected again as soon as they can have
      // it.
      const settling = status === "starting" && seen.every(({ health }) => health === "")
      const missing = Math.max(0, ...seen.map(computeMillisUntilStable))
      const pause = settling ? Duration.min(interval, Duration.millis(Math.max(shortestPause, missing))) : interval
      yield* Effect.sleep(Duration.min(pause, left))
      return yield* Effect.matchEffect(inspect, {
        onSuccess: judge,
        onFailure: (error) =>
          Effect.flatMap(
            Clock.currentTimeMillis,
            (now) => now - began < Duration.toMillis(timeout) ? judge(states) : Effect.fail(error)
          )
      })
    })
  return yield* judge(first)
})

type Health = Pick<StackHealth, "complaints" | "status">

/** Outcome of the step `health`; a stack that did not get healthy is an error. */
export const toHealthOutcome = ({ complaints, status }: Health): StepOutcome => ({
  status: status === "healthy" ? "done" : "error",
  detail: complaints === "" ? status : complaints
})

/** State of a stack as the predicate of a sentence. */
export const describeHealth = ({ complaints, status }: Health): string =>
  status === "healthy" ? "is healthy" : `is ${status}: ${complaints}`

/** Health options of the release that runs at a remote path; the settings' options if none is known. */
export const readCurrentHealthOptions = (
  stack: Stack
): Effect.Effect<HealthOptions, SettingsError, Settings | Ssh> =>
  readReleases(stack).pipe(
    Effect.orElseSucceed(() => []),
    Effect.flatMap((releases) => {
      const current = releases.find(({ isCurrent }) => isCurrent)
      return current === undefined ? readHealthOptions() : readReleaseHealthOptions(current)
    })
  )
