import { Either } from "effect"
import type { ReportedStack } from "../../remote/server/overviewCommand.ts"
import type { ObservedStack } from "../../schema/Overview.ts"
import type { LocalProject, ProjectTarget } from "../../schema/projects/Project.ts"
import { isCompleted, isUnhealthy, isUp } from "../../schema/servers/containerStatus.ts"
import { parseRemotePath } from "../../schema/servers/RemotePath.ts"
import { listDeployPlaces } from "../projects/inspectProject.ts"
import type { ServerObservation } from "./observeServers.ts"
import { computeStackState, isDeployed, sortWorstFirst } from "./stackState.ts"

const isWell = (status: string) => (isUp(status) && !isUnhealthy(status)) || isCompleted(status)

/** Containers that degrade a stack: crashed, restarting, unhealthy or paused ones. */
const failingContainers = (sight: ReportedStack): Pick<ObservedStack, "failing"> => {
  if (computeStackState(sight).state !== "degraded") return {}
  const failing = sight.statuses.flatMap((status, index) =>
    isWell(status) ? [] : [{ name: sight.names[index] ?? "", status }]
  )
  return failing.length === 0 ? {} : { failing }
}

const stackOn = ({ server, stackAt }: ServerObservation, remotePath: string): ObservedStack => {
  const { error, id, name, observedAt } = server
  const place = { serverId: id, serverName: name, remotePath, observedAt }
  const seen = stackAt?.(remotePath)
  return seen === undefined
    ? {
      ...place,
      state: null,
      containers: null,
      containerNames: [],
      release: null,
      error: error ?? "It was not observed"
    }
    : {
      ...place,
      ...computeStackState(seen),
      ...failingContainers(seen),
      containerNames: seen.names,
      containerStates: seen.names.map((name, index) => ({ name, status: seen.statuses[index] ?? "" })),
      release: seen.release
    }
}

/** Stack at a place named in `container.json`. */
const namedStack = (
  { remotePath, serverId }: ProjectTarget,
  sights: ReadonlyArray<ServerObservation>,
  now: string
): ObservedStack => {
  const given = parseRemotePath("remotePath", remotePath)
  const home = sights.find(({ server }) => server.id === serverId)
  const place = { serverId, serverName: home?.server.name ?? null }
  const unseen = { state: null, containers: null, containerNames: [], release: null, observedAt: now } as const
  if (Either.isLeft(given)) return { ...place, remotePath, ...unseen, error: `container.json: ${given.left.message}` }
  return home === undefined
    ? { ...place, remotePath: given.right, ...unseen, error: "container.json names a server that is not stored" }
    : stackOn(home, given.right)
}

/** Stacks of a project: at the places that `container.json` names, and on all other servers that have it. */
export const listStacks = (
  project: LocalProject,
  sights: ReadonlyArray<ServerObservation>,
  now: string
): ReadonlyArray<ObservedStack> => {
  const places = listDeployPlaces(project)
  const named = sortWorstFirst(places.map((place) => namedStack(place, sights, now)))
  const given = parseRemotePath("remotePath", project.remotePath)
  if (Either.isLeft(given)) return named
  const remotePath = given.right
  const elsewhere = sights.filter(({ server, stackAt }) =>
    !places.some(({ serverId }) => serverId === server.id) && stackAt !== undefined && isDeployed(stackAt(remotePath))
  )
  return [...named, ...elsewhere.map((sight) => stackOn(sight, remotePath))]
}
