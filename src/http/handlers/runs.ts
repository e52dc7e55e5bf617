import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { Runs } from "../../services/runs/Runs.ts"
import { orApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { eventStream } from "../eventStream.ts"

/** The id that a watcher comes back with; anything else means that it begins anew. */
const eventId = (text: string | undefined): Option.Option<number> =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none()

export const RunsHandlers = HttpApiBuilder.group(BerthApi, "runs", (handlers) =>
  Effect.gen(function*() {
    const runs = yield* Runs
    return handlers
      .handle("listRuns", ({ urlParams }) => orApiError(runs.list(urlParams)))
      .handle("getRun", ({ path }) => orApiError(runs.get(path.id)))
      .handle("cancelRun", ({ path }) => orApiError(runs.cancel(path.id)))
      .handleRaw("watchRun", ({ headers, path }) =>
        Effect.map(orApiError(runs.events(path.id, eventId(headers["last-event-id"]))), eventStream))
  }))
