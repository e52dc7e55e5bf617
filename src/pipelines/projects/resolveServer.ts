import { Either } from "effect"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { findServer } from "../../schema/servers/findServer.ts"
import type { Server } from "../../schema/servers/Server.ts"

/**
 * A project with the id of its server where container.json gives the name. What names no single stored server stays as it
 * is written.
 */
export const resolveServer = (stored: ReadonlyArray<Server>) => <A extends LocalProject>(project: A): A =>
  project.serverId === null ? project : Either.match(findServer(stored, project.serverId), {
    onLeft: () => project,
    onRight: ({ id }) => ({ ...project, serverId: id })
  })
