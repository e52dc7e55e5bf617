import { Effect } from "effect"
import { execute } from "../../remote/execute.ts"
import { containerLogsCommand, isNoStack, logLimit, stackLogsCommand } from "../../remote/logs/logsCommand.ts"
import { describeMissingSource, LogsFailed, type LogsQueryInvalid, makeLineFilter } from "../../schema/servers/Logs.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "./describeDockerRefusal.ts"
import { findServerOrFail } from "./findServerOrFail.ts"
import { type LogsQuery, type ResolvedLogsQuery, resolveLogsQuery } from "./logsQuery.ts"

const failed = (reason: string) => new LogsFailed({ reason })

/**
 * Keeps the last lines whose text contains the requested one. The server's own filter is wider, as it also matches
 * service names and redacted secrets.
 */
const onlyContaining = (logs: string, { contains, lines, source, timestamps }: ResolvedLogsQuery): string => {
  if (contains === "") return logs
  const fits = makeLineFilter(contains)
  const textOf = (line: string) => {
    const text = source.kind === "stack" ? line.replace(/^[^|]*\| ?/, "") : line
    return timestamps ? text.replace(/^\S+ ?/, "") : text
  }
  const kept = logs.replace(/\n$/, "").split("\n").filter((line) => fits(textOf(line))).slice(-lines)
  return kept.map((line) => `${line}\n`).join("")
}

/** Returns the last lines, 100 by default, of the log of the stack at `remotePath`, or of a container. */
export const logs = Effect.fn("logs")(function*(
  serverId: string,
  query: LogsQuery
): Effect.fn.Return<string, LogsFailed | LogsQueryInvalid | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, failed)
  const wanted = yield* Effect.catchTag(
    resolveLogsQuery(query),
    "LogsTargetMissing",
    ({ message }) => failed(message)
  )
  const { lines, source, ...options } = wanted
  const command = source.kind === "stack"
    ? stackLogsCommand(source.remotePath, lines, server.useSudo, options)
    : containerLogsCommand(source.name, lines, server.useSudo, options)
  const { stdout, truncated = false } = yield* Effect.mapError(
    execute(server, command, { keepLast: logLimit }),
    (error) =>
      failed(
        source.kind === "stack" && error._tag === "RemoteCommandFailed" && isNoStack(error)
          ? describeMissingSource(source, server.name)
          : describeDockerRefusal(error.message, server)
      )
  )
  return onlyContaining(yield* scrubSecrets(stdout, { cut: truncated }), wanted)
})
