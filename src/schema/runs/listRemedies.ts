import { isEnded, type Run } from "./Run.ts"
import { computeRunVerdict } from "./runVerdict.ts"

/**
 * Next action after a run that did not succeed: read the log, look at the server, run an earlier release, see what would
 * change, or do it again.
 */
export type Remedy = "log" | "server" | "releases" | "changes" | "again"

type Ended = Pick<Run, "error" | "kind" | "result" | "state" | "steps" | "subject">

const stackKinds: ReadonlySet<string> = new Set(["deploy", "rollback", "stack"])
/** Steps that fail where the server, its disk or its Docker does. */
const serverSteps: ReadonlySet<string> = new Set(["preflight", "upload", "load"])
const conflict = 409
const serverFailed = 502

/** Cause of the failure, as far as it decides what to do next. */
const causeOf = (
  { error, kind, result, state, steps, subject }: Ended
): "stopped" | "conflict" | "server" | "kept" | "gone" => {
  if (state !== "failed") return "stopped"
  if (computeRunVerdict({ kind, subject }, result) === "unhealthy") return "kept"
  if (error?.status === conflict) return "conflict"
  const failed = steps.findLast(({ status }) => status === "error")?.step ?? ""
  return error?.status === serverFailed || serverSteps.has(failed) ? "server" : "gone"
}

/** Remedies of a stack's run that did not succeed, the likeliest first; every door offers the same. */
export const listRemedies = (run: Ended): ReadonlyArray<Remedy> => {
  // Each of its deploys has remedies of its own.
  if (run.kind === "deploy-all") return run.state === "succeeded" || !isEnded(run.state) ? [] : ["again"]
  if (!stackKinds.has(run.kind) || !["failed", "cancelled", "interrupted"].includes(run.state)) return []
  const again: ReadonlyArray<Remedy> = run.kind === "deploy" ? ["again"] : []
  switch (causeOf(run)) {
    case "stopped":
      return again
    // A plan that no longer holds, another deploy of the same path, or a release whose images are gone.
    case "conflict":
      return run.kind === "deploy" ? ["changes", ...again] : run.kind === "rollback" ? ["releases"] : []
    case "server":
      return ["server", ...again]
    // A version that stays although it is not healthy makes way for an earlier one.
    case "kept":
      return ["log", "releases", ...again]
    case "gone":
      return ["log", ...again]
  }
}

/** Remedies in words. */
export const remedyWords: Readonly<Record<Remedy, string>> = {
  log: "Show the log",
  server: "Check the server",
  releases: "Roll back",
  changes: "See the changes",
  again: "Deploy again"
}
