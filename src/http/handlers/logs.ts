import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { followProjects } from "../../pipelines/servers/followProjects.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { EventStreams } from "../wire/eventStreams.ts"
import { logEvents } from "../wire/logEvents.ts"

export const LogsHandlers = HttpApiBuilder.group(
  BerthApi,
  "logs",
  (handlers) =>
    Effect.map(
      EventStreams,
      (streams) =>
        handlers.handleRaw("followProjectLogs", ({ urlParams: { project, ...query } }) =>
          orApiError(Effect.gen(function*() {
            const respond = yield* streams.open
            return respond(logEvents(yield* followProjects(project, query)))
          })))
    )
)
