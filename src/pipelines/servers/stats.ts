import { Effect } from "effect"
import { execute } from "../../remote/execute.ts"
import { parseStats, statsCommand } from "../../remote/stack/statsCommand.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import { type ContainerStats, StatsFailed } from "../../schema/servers/Stats.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "./describeDockerRefusal.ts"
import { findServerOrFail } from "./findServerOrFail.ts"

const failed = (reason: string) => new StatsFailed({ reason })

/** Reads the current usage of a server's running containers. Docker takes one or two seconds to measure it. */
export const stats = Effect.fn("stats")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<ContainerStats>, StatsFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, statsCommand(server.useSudo), { timeout: "30 seconds" }),
    ({ message }) => failed(describeDockerRefusal(message, server))
  )
  return parseStats(stdout)
})
