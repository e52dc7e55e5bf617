import { HttpApiBuilder } from "@effect/platform"
import { Clock, Effect } from "effect"
import { checkDependencies } from "../../pipelines/health/health.ts"
import { BerthApi, version } from "../api/BerthApi.ts"

export const HealthHandlers = HttpApiBuilder.group(BerthApi, "health", (handlers) =>
  Effect.gen(function*() {
    const started = yield* Clock.currentTimeMillis
    return handlers.handle("health", ({ urlParams }) =>
      Effect.gen(function*() {
        const uptimeSeconds = Math.floor(((yield* Clock.currentTimeMillis) - started) / 1000)
        const health = { status: "ok" as const, version, uptimeSeconds }
        return urlParams.deep === "true" ? { ...health, dependencies: yield* checkDependencies } : health
      }))
  }))
