import { Option, Schema } from "effect"
import type { NotifyEvent } from "../../schema/notify/NotifyTarget.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { computeRunVerdict } from "../../schema/runs/runVerdict.ts"

type RunEnd = Pick<Run, "kind" | "result" | "state" | "steps" | "subject">

/** True when the previous release was started in place of a new version. */
const hasRolledBack = ({ steps }: RunEnd): boolean =>
  steps.some(({ status, step }) => step === "rollback" && (status === "done" || status === "warn"))

/**
 * Health events of a failed run. Without a result it ended with an error, and has not started anything that could be
 * unhealthy.
 */
const judged = (run: RunEnd): ReadonlyArray<NotifyEvent> => {
  if (run.state !== "failed" || run.result === null || run.result === undefined) return []
  if (computeRunVerdict(run, run.result) === "unhealthy") return ["unhealthy"]
  return hasRolledBack(run) ? ["rolledBack", "unhealthy"] : []
}

const decodeTargets = Schema.decodeUnknownOption(Schema.Struct({
  targets: Schema.Array(Schema.Struct({ outcome: Schema.String, runId: Schema.NullOr(Schema.String) }))
}))

/**
 * True for a deploy to several servers if each of its deploys was announced as a run of its own. A refused deploy is
 * not a run.
 */
const isAnnounced = ({ kind, result }: RunEnd): boolean =>
  kind === "deploy-all" && Option.exists(
    decodeTargets(result),
    ({ targets }) => targets.every(({ outcome, runId }) => runId !== null || outcome === "notTried")
  )

/**
 * Events for the end of a run, the most specific first. Every unsuccessful end is also `failed`, so that a target with
 * that event alone misses none. A cancelled run has no events.
 */
export const findEvents = (run: RunEnd): ReadonlyArray<NotifyEvent> => {
  if (isAnnounced(run)) return []
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
