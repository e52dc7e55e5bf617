import type { Run } from "../../schema/Run.ts"
import { runVerdict } from "../../schema/runVerdict.ts"
import type { Tone } from "../ui/Badge.tsx"

/** The last name of a path. */
export const lastName = (path: string): string => path.split(/[\\/]/).findLast((name) => name !== "") ?? path

/** What a run is about, in a few words. */
export const aboutRun = ({ kind, subject }: Run): string => {
  const what = subject.appName ?? subject.projectPath ?? subject.remotePath
  const name = what === undefined ? "" : lastName(what)
  const verb = kind === "stack" ? subject.action ?? kind : kind
  return `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)} ${name}`.trim()
}

const statusOf = ({ result }: Run): string | undefined =>
  typeof result === "object" && result !== null && "status" in result && typeof result.status === "string"
    ? result.status
    : undefined

/** Outcome of a run, in the word for what it left where that says more than its state. */
export const outcomeOf = (run: Run): { readonly word: string; readonly tone: Tone } => {
  switch (run.state) {
    case "queued":
      return { word: "waits", tone: "idle" }
    case "running":
      return { word: "running", tone: "busy" }
    case "cancelled":
    case "interrupted":
      return { word: run.state, tone: "warn" }
    case "failed":
      return runVerdict(run, run.result) === "unhealthy"
        ? { word: statusOf(run) ?? "unhealthy", tone: "warn" }
        : { word: statusOf(run) ?? "failed", tone: "bad" }
    case "succeeded":
      return { word: statusOf(run) ?? "succeeded", tone: "good" }
  }
}

const expected: Partial<Record<Run["kind"], ReadonlyArray<readonly [step: string, detail: string]>>> = {
  deploy: [
    ["preflight", "Look at the server and its Docker"],
    ["upload", "Send the files that differ"],
    ["load", "Send missing image layers"],
    ["start", "Start the stack"],
    ["health", "Wait until it is healthy"]
  ]
}

/** The steps that a run of this kind has still to do. */
export const stepsAhead = ({ kind, steps }: Run): ReadonlyArray<readonly [step: string, detail: string]> => {
  const begun = new Set(steps.map(({ step }) => step))
  return (expected[kind] ?? []).filter(([step]) => !begun.has(step))
}
