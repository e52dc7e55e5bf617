import { Either } from "effect"
import type { ObservedStack } from "../../schema/Overview.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { remotePathIn } from "../../schema/servers/RemotePath.ts"
import { failingContainers } from "./failingContainers.ts"
import type { ServerSight } from "./observeServers.ts"
import { isDeployed, stackState } from "./stackState.ts"

const stackOn = ({ server, stackAt }: ServerSight, remotePath: string): ObservedStack => {
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
      ...stackState(seen),
      ...failingContainers(seen),
      containerNames: seen.names,
      containerStates: seen.names.map((name, index) => ({ name, status: seen.statuses[index] ?? "" })),
      release: seen.release
    }
}

/** Stacks of a project: on the server that `container.json` names, and on all others that have it. */
export const stacksOf = (
  project: LocalProject,
  sights: ReadonlyArray<ServerSight>,
  now: string
): ReadonlyArray<ObservedStack> => {
  const given = remotePathIn("remotePath", project.remotePath)
  const home = sights.find(({ server }) => server.id === project.serverId)
  const unseen = { state: null, containers: null, containerNames: [], release: null, observedAt: now } as const
  if (Either.isLeft(given)) {
    return project.serverId === null ? [] : [{
      serverId: project.serverId,
      serverName: home?.server.name ?? null,
      remotePath: project.remotePath,
      ...unseen,
      error: `container.json: ${given.left.message}`
    }]
  }
  const remotePath = given.right
  const elsewhere = sights.filter((sight) =>
    sight !== home && sight.stackAt !== undefined && isDeployed(sight.stackAt(remotePath))
  )
  const named = home === undefined
    ? project.serverId === null ? [] : [{
      serverId: project.serverId,
      serverName: null,
      remotePath,
      ...unseen,
      error: "container.json names a server that is not stored"
    }]
    : [stackOn(home, remotePath)]
  return [...named, ...elsewhere.map((sight) => stackOn(sight, remotePath))]
}
