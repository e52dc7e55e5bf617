import { Option, Predicate } from "effect"
import type { Run } from "../../schema/runs/Run.ts"
import { computeRunVerdict, findFinalMessage } from "../../schema/runs/runVerdict.ts"
import type { DeployedTarget, TargetsResult } from "../../schema/targets/Targets.ts"
import { formatList } from "../../schema/words/expected.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { formatTargetLabels } from "./TargetsRun.ts"

type Outcome = Pick<DeployedTarget, "message" | "outcome">

const unknown: Outcome = {
  outcome: "failed",
  message: "The record of its run is gone: the list of its containers shows what runs"
}

const hasRolledBack = ({ steps }: Run): boolean =>
  steps.some(({ status, step }) => step === "rollback" && (status === "done" || status === "warn"))

/** Derives the outcome of a target from the ended run of its deploy. */
export const readTargetOutcome = (ended: Option.Option<Run>): Outcome => {
  if (Option.isNone(ended)) return unknown
  const run = ended.value
  const message = findFinalMessage(run) ?? ""
  if (run.state === "succeeded") return { outcome: "deployed", message }
  if (run.state === "cancelled") return { outcome: "cancelled", message }
  if (Predicate.isNullable(run.result)) return { outcome: "failed", message }
  if (computeRunVerdict(run, run.result) === "unhealthy") return { outcome: "unhealthy", message }
  return { outcome: hasRolledBack(run) ? "rolledBack" : "failed", message }
}

/** Outcome of a target that was not reached. */
export const notTried: Outcome = { outcome: "notTried", message: "Not tried: what ran before runs on" }

const runsNew = ({ outcome }: DeployedTarget) => outcome === "deployed" || outcome === "unhealthy"

const firstLine = (message: string) => message.split("\n")[0] ?? ""

/** Describes which targets run the new version, and why the others do not. */
const describe = (targets: ReadonlyArray<DeployedTarget>): string => {
  const labels = formatTargetLabels(targets)
  const named = targets.map((target, index) => ({ ...target, label: labels[index] ?? target.server }))
  const done = named.filter(runsNew)
  const skipped = named.filter(({ outcome }) => outcome === "notTried").map(({ label }) => label)
  const told = named.filter(({ outcome }) => outcome !== "deployed" && outcome !== "notTried")
  const verb = done.length === 1 ? "runs" : "run"
  const count = pluralize(targets.length, "server")
  return [
    done.length === 0
      ? `None of ${count} runs the new version.`
      : `${done.length} of ${count} ${verb} the new version: ${done.map(({ label }) => label).join(", ")}.`,
    ...told.map(({ label, message }) => `${label}: ${firstLine(message).replace(/\.$/, "")}.`),
    ...skipped.length === 0 ? [] : [
      `${formatList(skipped, "and")} ${skipped.length === 1 ? "was" : "were"} not tried: what ran there before runs on.`
    ]
  ].join(" ")
}

/** Result of a deploy to several targets. */
export const describeTargets = (targets: ReadonlyArray<DeployedTarget>): TargetsResult => {
  const deployed = targets.filter(runsNew).length
  return {
    success: deployed === targets.length,
    healthy: targets.every(({ outcome }) => outcome === "deployed"),
    deployed,
    targets,
    message: describe(targets)
  }
}
