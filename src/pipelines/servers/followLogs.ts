import { Effect, type Scope, Stream } from "effect"
import {
  type LogEvent,
  type LogLine,
  type LogsFailed,
  type LogsQueryInvalid,
  type NothingToFollow
} from "../../schema/servers/Logs.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import type { TooManyFollowers } from "../../schema/servers/Ssh.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { bufferLatestLines } from "./bufferLatestLines.ts"
import type { LogsQuery, ResolvedLogsQuery } from "./logsQuery.ts"
import { openLog } from "./openLog.ts"
import { takeUntilTime } from "./takeUntilTime.ts"

/** Events for lines that have been read. */
export const toLineEvents = (lines: ReadonlyArray<LogLine>): Stream.Stream<LogEvent> =>
  Stream.fromIterable(lines.map((data): LogEvent => ({ event: "line", data })))

/** The last event of a log that has an end. */
export const makeEndEvent = ({ until }: Pick<ResolvedLogsQuery, "until">): Stream.Stream<LogEvent> =>
  until === "" ? Stream.empty : Stream.succeed<LogEvent>({ event: "end", data: {} })

/**
 * Follows a log, starting with its last lines: of the stack at `remotePath`, including containers that it starts later,
 * else of a container. Never ends without `until`. The remote command ends when the scope closes. A slow reader gets
 * the number of dropped lines.
 */
export const followLogs = Effect.fn("followLogs")(function*(
  serverId: string,
  query: LogsQuery
): Effect.fn.Return<
  Stream.Stream<LogEvent, LogsFailed>,
  LogsFailed | LogsQueryInvalid | NothingToFollow | ServerUnresolved | TooManyFollowers,
  Settings | Ssh | Scope.Scope
> {
  const { read, wanted } = yield* openLog(serverId, query)
  return Stream.unwrapScoped(
    Effect.map(
      read,
      ({ live, past }) => Stream.concat(toLineEvents(past), bufferLatestLines(takeUntilTime(live, wanted)))
    )
  ).pipe(Stream.concat(makeEndEvent(wanted)))
})
