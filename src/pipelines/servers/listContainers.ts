import { Effect } from "effect"
import { execute } from "../../remote/execute.ts"
import { containersCommand, parseContainers } from "../../remote/stack/containersCommand.ts"
import { type Container, ContainersFailed } from "../../schema/servers/Container.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "./describeDockerRefusal.ts"
import { findServerOrFail } from "./findServerOrFail.ts"

const failed = (reason: string) => new ContainersFailed({ reason })

/** Lists the running containers of a server; with `all` also the others. */
export const listContainers = Effect.fn("listContainers")(function*(
  serverId: string,
  { all = false }: { readonly all?: boolean } = {}
): Effect.fn.Return<ReadonlyArray<Container>, ContainersFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, containersCommand(server.useSudo, all)),
    ({ message }) => failed(describeDockerRefusal(message, server))
  )
  return parseContainers(stdout)
})
