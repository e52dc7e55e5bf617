import { Stream } from "effect"
import type { LogEvent } from "../../schema/servers/Logs.ts"
import type { ServerEvent } from "./eventStreams.ts"

/** Events of a followed log as they are sent; a failure is the last one. */
export const logEvents = <E extends { readonly message: string }>(
  events: Stream.Stream<LogEvent, E>
): Stream.Stream<ServerEvent> =>
  events.pipe(
    Stream.map(({ data, event }) => ({ event, data: JSON.stringify(data) })),
    Stream.catchAll(({ message }) => Stream.make({ event: "error", data: JSON.stringify({ error: message }) }))
  )
