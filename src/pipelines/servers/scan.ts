import { Effect, Option } from "effect"
import { parseScan, scanCommand } from "../../remote/server.ts"
import type { ServerUnresolved } from "../../schema/servers.ts"
import { type DeployedProject, ScanFailed } from "../../schema/stacks.ts"
import { mask } from "../../schema/words.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { execute, type Ssh } from "../../services/ssh/Ssh.ts"
import { redactCompose } from "../projects/redactCompose.ts"
import { findServerOrFail } from "./servers.ts"

const failed = (reason: string) => new ScanFailed({ reason })

/** Lists the deployed projects of a server: the directories under `~/containers`, in one command. */
export const scan = Effect.fn("scan")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<DeployedProject>, ScanFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, scanCommand),
    ({ message }) => failed(message)
  )
  const deployed = yield* Effect.mapError(
    parseScan(stdout),
    () => failed(`"${server.name}" did not answer with a list of directories`)
  )
  return yield* Effect.forEach(deployed, (project) =>
    project.composeFileContent === null
      ? Effect.succeed(project)
      : Effect.map(redactCompose(project.composeFileContent), (text) => ({
        ...project,
        composeFileContent: Option.getOrElse(text, () => mask)
      })))
})
