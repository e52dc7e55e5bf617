import { HttpApiBuilder } from "@effect/platform"
import { Effect, Stream } from "effect"
import { followLogs } from "../../pipelines/servers/followLogs.ts"
import { followProjects } from "../../pipelines/servers/followProjects.ts"
import { logs } from "../../pipelines/servers/logs.ts"
import type { LogEvent } from "../../schema/servers/Logs.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { EventStreams, type ServerEvent } from "../wire/eventStreams.ts"

/** Encodes the events of a followed log; a failure becomes the last event. */
const logEvents = <E extends { readonly message: string }>(
  events: Stream.Stream<LogEvent, E>
): Stream.Stream<ServerEvent> =>
  events.pipe(
    Stream.map(({ data, event }) => ({ event, data: JSON.stringify(data) })),
    Stream.catchAll(({ message }) => Stream.make({ event: "error", data: JSON.stringify({ error: message }) }))
  )

export const LogsHandlers = HttpApiBuilder.group(
  BerthApi,
  "logs",
  (handlers) =>
    Effect.map(EventStreams, (streams) =>
      handlers
        .handle(
          "serverLogs",
          ({ path, urlParams }) =>
            orApiError(Effect.map(logs(path.id, urlParams), (text) => ({ success: true as const, logs: text })))
        )
        .handleRaw("followLogs", ({ path, urlParams }) =>
          orApiError(Effect.gen(function*() {
            const respond = yield* streams.open
            return respond(logEvents(yield* followLogs(path.id, urlParams)))
          })))
        .handleRaw("followProjectLogs", ({ urlParams: { project, ...query } }) =>
          orApiError(Effect.gen(function*() {
            const respond = yield* streams.open
            return respond(logEvents(yield* followProjects(project, query)))
          }))))
)
