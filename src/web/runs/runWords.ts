import type { Run } from "../../schema/Run.ts"
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

/** How a run went, by the state of what it left: a deploy can succeed and leave an unhealthy stack. */
export const outcomeOf = ({ result, state }: Run): { readonly word: string; readonly tone: Tone } => {
  switch (state) {
    case "queued":
      return { word: "waits", tone: "idle" }
    case "running":
      return { word: "running", tone: "busy" }
    case "cancelled":
    case "interrupted":
      return { word: state, tone: "warn" }
    case "failed":
      return { word: "failed", tone: "bad" }
    case "succeeded": {
      const fields = typeof result === "object" && result !== null ? result : {}
      const success = "success" in fields ? fields.success : true
      const status = "status" in fields && typeof fields.status === "string" ? fields.status : undefined
      const healthy = "healthy" in fields ? fields.healthy : true
      if (success === false) return { word: status ?? "did not succeed", tone: "bad" }
      return healthy === false
        ? { word: status ?? "unhealthy", tone: "warn" }
        : { word: status ?? "succeeded", tone: "good" }
    }
  }
}

/** What a run has to say at its end: its error, or the message of its result. */
export const lastWordOf = ({ error, result }: Run): string | undefined => {
  if (error !== null) return error.error
  return typeof result === "object" && result !== null && "message" in result && typeof result.message === "string"
    ? result.message
    : undefined
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
