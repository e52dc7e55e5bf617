import { Effect } from "effect"
import { type Container, ContainersFailed } from "../schema/Container.ts"
import type { ServerNotFound } from "../schema/Server.ts"
import type { SettingsError } from "../schema/Settings.ts"
import { Settings } from "../services/settings/Settings.ts"
import type { Ssh } from "../services/ssh/Ssh.ts"
import { dockerHelp } from "./dockerHelp.ts"
import { containersCommand, parseContainers } from "./remote/containers.ts"
import { execute } from "./remote/execute.ts"

/** The containers that run on a server. */
export const containers = Effect.fn("containers")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<Container>, ContainersFailed | ServerNotFound | SettingsError, Settings | Ssh> {
  const server = yield* (yield* Settings).server(serverId)
  const { stdout } = yield* Effect.mapError(
    execute(server, containersCommand(server.useSudo)),
    ({ message }) => new ContainersFailed({ reason: dockerHelp(message, server) })
  )
  return parseContainers(stdout)
})
