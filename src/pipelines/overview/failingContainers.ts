import type { StackSight } from "../../remote/server/overviewCommand.ts"
import type { ObservedStack } from "../../schema/Overview.ts"
import { stackState } from "./stackState.ts"

const isWell = (status: string) =>
  (status.startsWith("Up ") && !/\((?:unhealthy|Paused)\)/.test(status)) || status.startsWith("Exited (0)")

/** Containers that degrade a stack: crashed, restarting, unhealthy or paused ones. */
export const failingContainers = (sight: StackSight): Pick<ObservedStack, "failing"> => {
  if (stackState(sight).state !== "degraded") return {}
  const failing = sight.statuses.flatMap((status, index) =>
    isWell(status) ? [] : [{ name: sight.names[index] ?? "", status }]
  )
  return failing.length === 0 ? {} : { failing }
}
