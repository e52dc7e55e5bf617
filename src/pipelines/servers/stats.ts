import { Effect } from "effect"
import type { ServerUnresolved } from "../../schema/Server.ts"
import { type ContainerStats, StatsFailed } from "../../schema/Stats.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { execute } from "../remote/execute.ts"
import { parseStats, statsCommand } from "../remote/stats.ts"
import { dockerHelp } from "./dockerHelp.ts"
import { serverOr } from "./serverOr.ts"

const failed = (reason: string) => new StatsFailed({ reason })

/** What the running containers of a server use at the moment. Docker takes a second or two to measure it. */
export const stats = Effect.fn("stats")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<ContainerStats>, StatsFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* serverOr(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, statsCommand(server.useSudo), { timeout: "30 seconds" }),
    ({ message }) => failed(dockerHelp(message, server))
  )
  return parseStats(stdout)
})
