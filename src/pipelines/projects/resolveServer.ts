import { Either } from "effect"
import type { LocalProject, ProjectTarget } from "../../schema/projects/Project.ts"
import { findServer } from "../../schema/servers/findServer.ts"
import type { Server } from "../../schema/servers/Server.ts"

const idOf = (stored: ReadonlyArray<Server>, idOrName: string): string =>
  Either.match(findServer(stored, idOrName), { onLeft: () => idOrName, onRight: ({ id }) => id })

/**
 * Replaces server names in a project by ids. A name that does not match exactly one stored server stays as written.
 */
export const resolveServer = (stored: ReadonlyArray<Server>) => <A extends LocalProject>(project: A): A => ({
  ...project,
  serverId: project.serverId === null ? null : idOf(stored, project.serverId),
  ...project.targets === undefined ? {} : {
    targets: project.targets.map((target): ProjectTarget => ({ ...target, serverId: idOf(stored, target.serverId) }))
  }
})
