import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { makeSharedOverview } from "../../pipelines/overview/sharedOverview.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const OverviewHandlers = HttpApiBuilder.group(
  BerthApi,
  "overview",
  (handlers) => Effect.map(makeSharedOverview, (overview) => handlers.handle("overview", () => orApiError(overview)))
)
