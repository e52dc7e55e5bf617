import { Either } from "effect"
import { findServer } from "../../schema/findServer.ts"
import type { LocalProject } from "../../schema/Project.ts"
import type { Server } from "../../schema/Server.ts"

/**
 * Projects with the id of their server where container.json gives its name. What names no single stored server stays as
 * it is written.
 */
export const resolveServers = <A extends LocalProject>(
  projects: ReadonlyArray<A>,
  stored: ReadonlyArray<Server>
): ReadonlyArray<A> =>
  projects.map((project) =>
    project.serverId === null ? project : Either.match(findServer(stored, project.serverId), {
      onLeft: () => project,
      onRight: ({ id }) => ({ ...project, serverId: id })
    })
  )
