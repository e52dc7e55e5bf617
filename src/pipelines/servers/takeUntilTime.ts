import { Clock, Effect, Stream } from "effect"
import type { LogLine } from "../../schema/servers/Logs.ts"
import type { ResolvedLogsQuery } from "./logsQuery.ts"

/** Grace period for lines that arrive late, in milliseconds. */
const grace = 2_000

/**
 * Limits further lines to those up to `until`. If `until` is past, the server sends none and ends by itself. A later
 * line does not end the stream, because earlier lines of another container may follow it.
 */
export const takeUntilTime = <E, R>(
  live: Stream.Stream<LogLine, E, R>,
  { until }: Pick<ResolvedLogsQuery, "until">
): Stream.Stream<LogLine, E, R> => {
  if (until === "" || until.startsWith("-")) return live
  const end = Date.parse(until)
  const passed = Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => Effect.sleep(Math.max(0, end - now) + grace)
  )
  return live.pipe(
    Stream.filter(({ time }) => !(Date.parse(time) > end)),
    Stream.interruptWhen(passed)
  )
}
