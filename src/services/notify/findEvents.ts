import { Option, Schema } from "effect"
import type { NotifyEvent } from "../../schema/notify/NotifyTarget.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { computeRunVerdict } from "../../schema/runs/runVerdict.ts"

type RunEnd = Pick<Run, "kind" | "result" | "state" | "steps" | "subject">

/** The release before was started in the place of a new version. */
const hasRolledBack = ({ steps }: RunEnd): boolean =>
  steps.some(({ status, step }) => step === "rollback" && (status === "done" || status === "warn"))

/** A failed run without a result ended with an error, and started nothing that could be unhealthy. */
const judged = (run: RunEnd): ReadonlyArray<NotifyEvent> => {
  if (run.state !== "failed" || run.result === null || run.result === undefined) return []
  if (computeRunVerdict(run, run.result) === "unhealthy") return ["unhealthy"]
  return hasRolledBack(run) ? ["rolledBack", "unhealthy"] : []
}

const decodeTargets = Schema.decodeUnknownOption(Schema.Struct({
  targets: Schema.Array(Schema.Struct({ outcome: Schema.String, runId: Schema.NullOr(Schema.String) }))
}))

/** A deploy to several servers whose deploys were all announced, each with its server; one that was refused was no run. */
const isAnnounced = ({ kind, result }: RunEnd): boolean =>
  kind === "deploy-all" && Option.exists(
    decodeTargets(result),
    ({ targets }) => targets.every(({ outcome, runId }) => runId !== null || outcome === "notTried")
  )

/**
 * Events that the end of a run is, the most specific first. Every end that is not well is `failed` too, so that a target
 * with that event alone misses none. A cancelled run sends none.
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
