import { Clock, Effect } from "effect"
import type { Health } from "../../schema/overview.ts"
import { version } from "../../schema/session.ts"

/**
 * Health of the service: its uptime since `startedAt` (milliseconds since 1970) and, with `deep`, its dependencies.
 */
export const health = Effect.fn("health")(function*({ deep, startedAt }: { deep: boolean; startedAt: number }) {
  const uptimeSeconds = Math.floor(((yield* Clock.currentTimeMillis) - startedAt) / 1000)
  const shallow: Health = { status: "ok", version, uptimeSeconds }
  if (!deep) return shallow
  // Loaded on demand, because few requests are deep.
  const { checkDependencies } = yield* Effect.promise(() => import("./checks.ts"))
  const dependencies = yield* checkDependencies
  const found: Health = {
    ...shallow,
    status: dependencies.every(({ ok }) => ok) ? "ok" : "degraded",
    dependencies
  }
  return found
})
