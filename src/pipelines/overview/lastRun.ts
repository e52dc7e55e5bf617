import { Effect } from "effect"
import type { LastRun } from "../../schema/Overview.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { findFinalMessage } from "../../schema/runs/runVerdict.ts"
import { Runs } from "../../services/runs/Runs.ts"

/** Number of newest runs to search for the last run of each project. */
const lastRunsAmong = 200

export const recentRuns = Effect.flatMap(
  Runs,
  (runs) => Effect.map(runs.list({ limit: lastRunsAmong }), (page) => page.runs)
)

const longestReason = 300

/** Summary of a run, with the first line of its failure reason. */
export const summarizeLastRun = (run: Run): LastRun => {
  const [line = ""] = (findFinalMessage(run) ?? "").split("\n")
  const reason = run.state === "succeeded" || line === "" ? null : line.slice(0, longestReason)
  const { endedAt, id, kind, requestedBy, state } = run
  return { id, kind, state, requestedBy, endedAt, reason }
}
