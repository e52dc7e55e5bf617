import { isEnded, type Run } from "./Run.ts"
import { computeRunVerdict } from "./runVerdict.ts"

/**
 * Next action after a run that did not succeed: read the log, inspect the server, run an earlier release, review the
 * changes, or repeat it.
 */
export type Remedy = "log" | "server" | "releases" | "changes" | "again"

type Ended = Pick<Run, "error" | "kind" | "result" | "state" | "steps" | "subject">

const stackKinds: ReadonlySet<string> = new Set(["deploy", "rollback", "stack"])
/** Steps whose failure is caused by the server, its disk or its Docker. */
const serverSteps: ReadonlySet<string> = new Set(["preflight", "upload", "load"])
const conflict = 409
const serverFailed = 502

/** Classifies the failure, as far as the remedies depend on it. */
const causeOf = (
  { error, kind, result, state, steps, subject }: Ended
): "stopped" | "conflict" | "server" | "kept" | "gone" => {
  if (state !== "failed") return "stopped"
  if (computeRunVerdict({ kind, subject }, result) === "unhealthy") return "kept"
  if (error?.status === conflict) return "conflict"
  const failed = steps.findLast(({ status }) => status === "error")?.step ?? ""
  return error?.status === serverFailed || serverSteps.has(failed) ? "server" : "gone"
}

/** Remedies for a stack's run that did not succeed, most likely first; the same for all clients. */
export const listRemedies = (run: Ended): ReadonlyArray<Remedy> => {
  // The deploys of its targets have remedies of their own.
  if (run.kind === "deploy-all") return run.state === "succeeded" || !isEnded(run.state) ? [] : ["again"]
  if (!stackKinds.has(run.kind) || !["failed", "cancelled", "interrupted"].includes(run.state)) return []
  const again: ReadonlyArray<Remedy> = run.kind === "deploy" ? ["again"] : []
  switch (causeOf(run)) {
    case "stopped":
      return again
    // Stale plan, concurrent deploy of the same path, or release with missing images.
    case "conflict":
      return run.kind === "deploy" ? ["changes", ...again] : run.kind === "rollback" ? ["releases"] : []
    case "server":
      return ["server", ...again]
    // The unhealthy version still runs and can be replaced by an earlier one.
    case "kept":
      return ["log", "releases", ...again]
    case "gone":
      return ["log", ...again]
  }
}

/** Labels of the remedies. */
export const remedyWords: Readonly<Record<Remedy, string>> = {
  log: "Show the log",
  server: "Check the server",
  releases: "Roll back",
  changes: "See the changes",
  again: "Deploy again"
}
