import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { StatsHistory } from "../../pipelines/stats/StatsHistory.ts"
import { keptMinutes } from "../../schema/StatsHistory.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const StatsHandlers = HttpApiBuilder.group(
  BerthApi,
  "stats",
  (handlers) =>
    Effect.map(StatsHistory, (history) =>
      handlers.handle(
        "statsHistory",
        ({ path, urlParams: { minutes = keptMinutes } }) => orApiError(history.of(path.id, minutes))
      ))
)
