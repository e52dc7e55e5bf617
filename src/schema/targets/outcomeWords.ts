import type { TargetOutcome } from "./Targets.ts"

/** Labels of the outcomes. */
export const outcomeWords: Readonly<Record<TargetOutcome, string>> = {
  deployed: "deployed",
  unhealthy: "deployed, not healthy",
  rolledBack: "rolled back",
  failed: "failed",
  cancelled: "cancelled",
  notTried: "not tried"
}
