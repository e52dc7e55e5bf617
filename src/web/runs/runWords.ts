import type { Run } from "../../schema/runs/Run.ts"
import { computeRunVerdict } from "../../schema/runs/runVerdict.ts"
import type { Tone } from "../ui/tone.ts"

/** Base name of a path. */
export const toBaseName = (path: string): string => path.split(/[\\/]/).findLast((name) => name !== "") ?? path

export const describeRun = ({ kind, subject }: Pick<Run, "kind" | "subject">): string => {
  const what = subject.appName ?? subject.projectPath ?? subject.remotePath
  const name = what === undefined ? "" : toBaseName(what)
  if (kind === "deploy-all") return `Deploy ${name} to its servers`
  const verb = kind === "stack" ? subject.action ?? kind : kind
  return `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)} ${name}`.trim()
}

/** Describes the run ahead of a queued one. */
export const describeWait = ({ waitsFor }: Run): string => {
  if (waitsFor === undefined) return "waits for its turn"
  const about = describeRun(waitsFor)
  return `waits for ${about.slice(0, 1).toLowerCase()}${about.slice(1)} by ${waitsFor.requestedBy.name}`
}

const statusOf = ({ result }: Run): string | undefined =>
  typeof result === "object" && result !== null && "status" in result && typeof result.status === "string"
    ? result.status
    : undefined

/** Outcome of a run: the status in its result if more specific than its state, else its state. */
export const describeRunOutcome = (run: Run): { readonly word: string; readonly tone: Tone } => {
  switch (run.state) {
    case "queued":
      return { word: "waits", tone: "idle" }
    case "running":
      return { word: "running", tone: "busy" }
    case "cancelled":
    case "interrupted":
      return { word: run.state, tone: "warn" }
    case "failed":
      return computeRunVerdict(run, run.result) === "unhealthy"
        ? { word: statusOf(run) ?? "unhealthy", tone: "warn" }
        : { word: statusOf(run) ?? "failed", tone: "bad" }
    case "succeeded":
      return { word: statusOf(run) ?? "succeeded", tone: "good" }
  }
}

const expected: Partial<Record<Run["kind"], ReadonlyArray<readonly [step: string, detail: string]>>> = {
  deploy: [
    ["preflight", "Check the server and its Docker"],
    ["upload", "Send the files that differ"],
    ["load", "Send missing image layers"],
    ["start", "Start the stack"],
    ["health", "Wait until it is healthy"]
  ]
}

/** Remaining steps of a run. */
export const listRemainingSteps = ({ kind, steps }: Run): ReadonlyArray<readonly [step: string, detail: string]> => {
  const begun = new Set(steps.map(({ step }) => step))
  return (expected[kind] ?? []).filter(([step]) => !begun.has(step))
}
