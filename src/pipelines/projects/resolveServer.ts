import { Either } from "effect"
import type { LocalProject, ProjectTarget } from "../../schema/projects/Project.ts"
import { findServer } from "../../schema/servers/findServer.ts"
import type { Server } from "../../schema/servers/Server.ts"

const idOf = (stored: ReadonlyArray<Server>, idOrName: string): string =>
  Either.match(findServer(stored, idOrName), { onLeft: () => idOrName, onRight: ({ id }) => id })

/**
 * A project with the ids of its servers where container.json gives the names. What names no single stored server stays as
 * it is written.
 */
export const resolveServer = (stored: ReadonlyArray<Server>) => <A extends LocalProject>(project: A): A => ({
  ...project,
  serverId: project.serverId === null ? null : idOf(stored, project.serverId),
  ...project.targets === undefined ? {} : {
    targets: project.targets.map((target): ProjectTarget => ({ ...target, serverId: idOf(stored, target.serverId) }))
  }
})
