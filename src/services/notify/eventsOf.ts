import { Predicate } from "effect"
import type { NotifyEvent } from "../../schema/notify/NotifyTarget.ts"
import type { Run } from "../../schema/runs/Run.ts"

type RunEnd = Pick<Run, "kind" | "result" | "state">

/** A new version that was judged, and made way for the release before when that is what was to be done. */
const judged = ({ result, state }: RunEnd): ReadonlyArray<NotifyEvent> => {
  if (state !== "failed" || !Predicate.isRecord(result) || result["healthy"] !== false) return []
  return result["success"] === false ? ["rolledBack", "unhealthy"] : ["unhealthy"]
}

/**
 * Events that the end of a run is, the most specific first. Every end that is not well is `failed` too, so that a target
 * with that event alone misses none. Nobody is told that a run was cancelled.
 */
export const eventsOf = (run: RunEnd): ReadonlyArray<NotifyEvent> => {
  switch (run.state) {
    case "succeeded":
      return run.kind === "rollback" ? ["rolledBack", "succeeded"] : ["succeeded"]
    case "failed":
    case "interrupted":
      return [...judged(run), "failed"]
    default:
      return []
  }
}
