import { Effect } from "effect"
import type { LastRun } from "../../schema/Overview.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { findFinalMessage } from "../../schema/runs/runVerdict.ts"
import { Runs } from "../../services/runs/Runs.ts"

/** Newest runs in which the last one of each project is looked for. */
const lastRunsAmong = 200

export const recentRuns = Effect.flatMap(
  Runs,
  (runs) => Effect.map(runs.list({ limit: lastRunsAmong }), (page) => page.runs)
)

const longestReason = 300

/** A run in short, with the first line of why it failed. */
export const summarizeLastRun = (run: Run): LastRun => {
  const [line = ""] = (findFinalMessage(run) ?? "").split("\n")
  const reason = run.state === "succeeded" || line === "" ? null : line.slice(0, longestReason)
  const { endedAt, id, kind, requestedBy, state } = run
  return { id, kind, state, requestedBy, endedAt, reason }
}
