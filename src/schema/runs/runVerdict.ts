import { Predicate } from "effect"
import type { Run } from "./Run.ts"

/**
 * Judgement of a result: `unhealthy` is a version that was started, stays and is not healthy; `failed` did not do what was
 * asked for, a deploy whose version made way for the release before, for instance.
 */
export type RunVerdict = "done" | "unhealthy" | "failed"

const field = (result: unknown, name: string): unknown =>
  Predicate.isRecord(result) && Object.hasOwn(result, name) ? result[name] : undefined

/** Only these leave a stack that is meant to run; one that was stopped is `exited`. */
const startsStack = ({ kind, subject: { action } }: Pick<Run, "kind" | "subject">): boolean =>
  kind === "stack" && (action === "start" || action === "restart")

/** Judges the result of a run: its state, and the exit code and words of every door, derive from this alone. */
export const computeRunVerdict = (run: Pick<Run, "kind" | "subject">, result: unknown): RunVerdict => {
  if (field(result, "success") === false) return "failed"
  if (field(result, "healthy") === false) return "unhealthy"
  return startsStack(run) && field(result, "status") !== "healthy" ? "unhealthy" : "done"
}

/** Final message of a run: that of its result, else its error. */
export const findFinalMessage = ({ error, result }: Pick<Run, "error" | "result">): string | undefined => {
  const message = field(result, "message")
  return Predicate.isString(message) ? message : error?.error
}

/** Describes a failed result: the first line of its message, else the exit code of its script. */
export const describeShortfall = (result: unknown): string => {
  const message = field(result, "message")
  const [first = ""] = Predicate.isString(message) ? message.split("\n") : []
  if (first !== "") return first
  const exitCode = field(result, "exitCode")
  return Predicate.isNumber(exitCode)
    ? `The script ended with exit code ${exitCode}`
    : "The script was stopped before it had ended"
}
