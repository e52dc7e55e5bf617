import { HttpApiBuilder } from "@effect/platform"
import { Clock, Effect } from "effect"
import { health } from "../../pipelines/health/health.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const HealthHandlers = HttpApiBuilder.group(BerthApi, "health", (handlers) =>
  Effect.map(
    Clock.currentTimeMillis,
    (startedAt) => handlers.handle("health", ({ urlParams }) => health({ deep: urlParams.deep === "true", startedAt }))
  ))
