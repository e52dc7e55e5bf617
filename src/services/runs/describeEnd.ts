import { Cause, Exit, Option, Predicate } from "effect"
import { type Run, RunCancelled, RunInterrupted, RunLeft, type RunState } from "../../schema/Run.ts"
import type { RunOutcome } from "./liveRun.ts"

/** The state that a run ends in, and its result or its error. `running` means that the next start goes on with it. */
export interface RunEnd {
  readonly state: RunState
  readonly outcome: RunOutcome
}

// One result must not fill the store: the longest texts are what programs printed, whose end tells most.
const longestText = 128 * 1024

const bounded = (value: unknown): unknown => {
  if (Predicate.isString(value)) return value.length > longestText ? value.slice(-longestText) : value
  if (Array.isArray(value)) return value.map(bounded)
  return Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bounded(item)]))
    : value
}

const statusOf = (error: unknown): number =>
  Predicate.hasProperty(error, "status") && Predicate.isNumber(error.status) ? error.status : 500

const failed = (state: RunState, error: { readonly message: string }): RunEnd => ({
  state,
  outcome: { error: { status: statusOf(error), error: error.message } }
})

/** What the rollback of a run that was cancelled came to, where it had to be undone. */
const undoneBy = ({ kind, steps }: Run): { readonly undone?: string } => {
  const rollback = kind === "deploy" ? steps.find(({ step }) => step === "rollback") : undefined
  if (rollback === undefined) return {}
  return {
    undone: rollback.status === "done"
      ? rollback.detail.replace(/^./, (first) => first.toUpperCase())
      : `What ran before could not be started again, so the new version is left as it is: ${rollback.detail}`
  }
}

const defect = { message: "Internal error: see the service's log" }

/** What the exit of a run's program means for the run. */
export const describeEnd = <A, E extends { readonly message: string }>(
  exit: Exit.Exit<A, E>,
  encode: (result: A) => unknown,
  run: Run
): RunEnd =>
  Exit.match(exit, {
    onSuccess: (result) => ({ state: "succeeded", outcome: { result: bounded(encode(result)) } }),
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () =>
          Cause.isInterruptedOnly(cause)
            ? failed("interrupted", new RunInterrupted({ kind: run.kind, step: stepUnderWay(run), resumes: false }))
            : failed("failed", defect),
        onSome: (error) => {
          if (error instanceof RunCancelled) {
            return failed("cancelled", new RunCancelled({ kind: run.kind, step: stepUnderWay(run), ...undoneBy(run) }))
          }
          if (error instanceof RunLeft) return { state: run.state, outcome: {} }
          if (!(error instanceof RunInterrupted)) return failed("failed", error)
          return error.resumes ? { state: run.state, outcome: {} } : failed("interrupted", error)
        }
      })
  })

/** The name of the step that a run is at, or was at last; nothing when the run has not begun. */
export const stepUnderWay = ({ startedAt, steps }: Run): string | null =>
  startedAt === null
    ? null
    : (steps.find(({ status }) => status === "running") ?? steps.at(-1))?.step ?? "its beginning"
