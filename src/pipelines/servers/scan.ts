import { Effect } from "effect"
import { type DeployedProject, ScanFailed } from "../../schema/Container.ts"
import type { ServerNotFound } from "../../schema/Server.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { execute } from "../remote/execute.ts"
import { parseScan, scanCommand } from "../remote/scan.ts"
import { serverOr } from "./serverOr.ts"

const mostOutput = 64 * 1024 * 1024

const failed = (reason: string) => new ScanFailed({ reason })

/** What is deployed on a server: the directories under its `~/containers`, read in one command. */
export const scan = Effect.fn("scan")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<DeployedProject>, ScanFailed | ServerNotFound, Settings | Ssh> {
  const server = yield* serverOr(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, scanCommand, { maxOutput: mostOutput }),
    ({ message }) => failed(message)
  )
  return yield* Effect.mapError(
    parseScan(stdout),
    () =>
      failed(`~/containers on "${server.name}" has more than 10,000 directories, or more than 64 MiB of compose files`)
  )
})
