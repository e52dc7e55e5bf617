import { Effect } from "effect"
import { type Container, ContainersFailed } from "../../schema/Container.ts"
import type { ServerUnresolved } from "../../schema/Server.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { containersCommand, parseContainers } from "../remote/containers.ts"
import { execute } from "../remote/execute.ts"
import { dockerHelp } from "./dockerHelp.ts"
import { serverOr } from "./serverOr.ts"

const failed = (reason: string) => new ContainersFailed({ reason })

/** The containers that run on a server. */
export const containers = Effect.fn("containers")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<Container>, ContainersFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* serverOr(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, containersCommand(server.useSudo)),
    ({ message }) => failed(dockerHelp(message, server))
  )
  return parseContainers(stdout)
})
