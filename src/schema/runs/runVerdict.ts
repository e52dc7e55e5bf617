import { Predicate } from "effect"
import type { Run } from "./Run.ts"

/**
 * Verdict on a result: `unhealthy` is a version that was started and kept but is not healthy; `failed` did not reach
 * its goal, such as a deploy that was rolled back to the previous release.
 */
export type RunVerdict = "done" | "unhealthy" | "failed"

const field = (result: unknown, name: string): unknown =>
  Predicate.isRecord(result) && Object.hasOwn(result, name) ? result[name] : undefined

/** Only these actions leave a stack that should run; after a stop, `exited` is the expected status. */
const startsStack = ({ kind, subject: { action } }: Pick<Run, "kind" | "subject">): boolean =>
  kind === "stack" && (action === "start" || action === "restart")

/** Determines the verdict of a run. Its state, and the exit code and message of every client, depend only on this. */
export const computeRunVerdict = (run: Pick<Run, "kind" | "subject">, result: unknown): RunVerdict => {
  if (field(result, "success") === false) return "failed"
  if (field(result, "healthy") === false) return "unhealthy"
  return startsStack(run) && field(result, "status") !== "healthy" ? "unhealthy" : "done"
}

/** Final message of a run: from its result, else from its error. */
export const findFinalMessage = ({ error, result }: Pick<Run, "error" | "result">): string | undefined => {
  const message = field(result, "message")
  return Predicate.isString(message) ? message : error?.error
}

/** Describes an unsuccessful result: the first line of its message, else the exit code of its script. */
export const describeShortfall = (result: unknown): string => {
  const message = field(result, "message")
  const [first = ""] = Predicate.isString(message) ? message.split("\n") : []
  if (first !== "") return first
  const exitCode = field(result, "exitCode")
  return Predicate.isNumber(exitCode)
    ? `The script ended with exit code ${exitCode}`
    : "The script was stopped before it had ended"
}
