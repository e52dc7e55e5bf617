import { HttpApiBuilder } from "@effect/platform"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire/loadOnUse.ts"

const load = () => import("../../pipelines/metrics/metrics.ts")

export const MetricsHandlers = HttpApiBuilder.group(
  BerthApi,
  "metrics",
  (handlers) => handlers.handle("metrics", () => orApiError(loadOnUse(load, ({ metrics }) => metrics)))
)
