import { Effect } from "effect"
import { LogsFailed, type LogsQueryInvalid } from "../../schema/Container.ts"
import { noSource } from "../../schema/Logs.ts"
import type { ServerUnresolved } from "../../schema/Server.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { execute } from "../remote/execute.ts"
import { containerLogsCommand, isNoStack, logLimit, stackLogsCommand } from "../remote/logs.ts"
import { dockerHelp } from "./dockerHelp.ts"
import { type LogsQuery, wantedLogs } from "./logsQuery.ts"
import { serverOr } from "./serverOr.ts"

const failed = (reason: string) => new LogsFailed({ reason })

/** The last lines, 100 when none are asked for, of a stack's log where `remotePath` is given, else of a container's. */
export const logs = Effect.fn("logs")(function*(
  serverId: string,
  query: LogsQuery
): Effect.fn.Return<string, LogsFailed | LogsQueryInvalid | ServerUnresolved, Settings | Ssh> {
  const server = yield* serverOr(serverId, failed)
  const { lines, source, ...options } = yield* Effect.catchTag(
    wantedLogs(query),
    "LogsTargetMissing",
    ({ message }) => failed(message)
  )
  const command = source.kind === "stack"
    ? stackLogsCommand(source.remotePath, lines, server.useSudo, options)
    : containerLogsCommand(source.name, lines, server.useSudo, options)
  const { stdout, truncated = false } = yield* Effect.mapError(
    execute(server, command, { keepLast: logLimit }),
    (error) =>
      failed(
        source.kind === "stack" && error._tag === "RemoteCommandFailed" && isNoStack(error)
          ? noSource(source, server.name)
          : dockerHelp(error.message, server)
      )
  )
  return yield* withoutSecrets(stdout, { cut: truncated })
})
