import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { getRun, listRuns, watchRun } from "../../pipelines/runs.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { orApiError } from "../api/annotations.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { EventStreams, loadOnUse, orMarkdown } from "../wire.ts"

/** Decodes `last-event-id`; other values restart from the first event. */
const eventId = (text: string | undefined): Option.Option<number> =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none()

const loadReports = () => import("../../schema/deployReport.ts")

export const RunsHandlers = HttpApiBuilder.group(BerthApi, "runs", (handlers) =>
  Effect.gen(function*() {
    const runs = yield* Runs
    const streams = yield* EventStreams
    return handlers
      .handle("listRuns", ({ urlParams }) => orApiError(listRuns(urlParams)))
      .handle("getRun", ({ path }) =>
        orApiError(orMarkdown(getRun(path.id), (run) =>
          loadOnUse(loadReports, ({ formatRunReport }) =>
            Effect.succeed(formatRunReport(run))))))
      .handle("cancelRun", ({ path }) =>
        orApiError(runs.cancel(path.id)))
      .handleRaw("watchRun", ({ headers, path }) =>
        orApiError(Effect.gen(function*() {
          const respond = yield* streams.open
          return respond(yield* watchRun(path.id, eventId(headers["last-event-id"])))
        })))
  }))
