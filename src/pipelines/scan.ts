import { Effect } from "effect"
import { type DeployedProject, ScanFailed } from "../schema/Container.ts"
import type { ServerNotFound } from "../schema/Server.ts"
import type { SettingsError } from "../schema/Settings.ts"
import { Settings } from "../services/settings/Settings.ts"
import type { Ssh } from "../services/ssh/Ssh.ts"
import { execute } from "./remote/execute.ts"
import { parseScan, scanCommand } from "./remote/scan.ts"

const mostOutput = 64 * 1024 * 1024

/** What is deployed on a server: the directories under its `~/containers`, read in one command. */
export const scan = Effect.fn("scan")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<DeployedProject>, ScanFailed | ServerNotFound | SettingsError, Settings | Ssh> {
  const server = yield* (yield* Settings).server(serverId)
  const { stdout } = yield* Effect.mapError(
    execute(server, scanCommand, { maxOutput: mostOutput }),
    ({ message }) => new ScanFailed({ reason: message })
  )
  return yield* Effect.mapError(
    parseScan(stdout),
    () => new ScanFailed({ reason: `the compose files in ~/containers on "${server.name}" are too large together` })
  )
})
