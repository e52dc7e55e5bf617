import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { followLogs } from "../../pipelines/servers/followLogs.ts"
import { followProjects } from "../../pipelines/servers/followProjects.ts"
import { logs } from "../../pipelines/servers/logs.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { EventStreams } from "../wire/eventStreams.ts"
import { logEvents } from "../wire/logEvents.ts"

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
