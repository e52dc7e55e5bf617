import type { TargetOutcome } from "./Targets.ts"

/** Outcomes of targets in words. */
export const outcomeWords: Readonly<Record<TargetOutcome, string>> = {
  deployed: "deployed",
  unhealthy: "deployed, not healthy",
  rolledBack: "rolled back",
  failed: "failed",
  cancelled: "cancelled",
  notTried: "not tried"
}
