import { Cause, Exit, Option, Predicate } from "effect"
import type { Run, RunError, RunState } from "../../../schema/runs/Run.ts"
import { RunCancelled, RunInterrupted, RunLost } from "../../../schema/runs/runFailures.ts"
import { computeRunVerdict, describeShortfall } from "../../../schema/runs/runVerdict.ts"
import { findCurrentStep } from "../findCurrentStep.ts"

/** Result or error of a run; both if the result counts as a failure. */
export interface RunOutcome {
  readonly result?: unknown
  readonly error?: RunError
}

/** Final state of a run; an unfinished state if the next start, or a peer, resumes it. */
export interface RunEnd {
  readonly state: RunState
  readonly outcome: RunOutcome
}

// Maximum length of each text in a stored result. Longer ones are cut at the front: the end of output is the most
// informative part.
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

const capitalized = (text: string) => text.replace(/^./, (first) => first.toUpperCase())

/** Derives from the steps of a cancelled run how it was undone, or what was done to the stack. */
const undoneBy = ({ kind, steps, subject }: Run): { readonly undone?: string } => {
  const step = kind === "stack" ? subject.action : kind === "deploy-all" ? "cancel" : "rollback"
  const telling = steps.find((each) => each.step === step)
  if (telling === undefined || telling.status === "running" || telling.detail === "") return {}
  const isFailedUndo = kind !== "stack" && telling.status === "error"
  return {
    undone: isFailedUndo
      ? `What ran before could not be started again, so the new version is left as it is: ${telling.detail}`
      : capitalized(telling.detail)
  }
}

const defect = { message: "Internal error: see the service's log" }

/** Turns the exit of a program into the end of its run. */
export const describeEnd = <A, E extends { readonly message: string }>(
  exit: Exit.Exit<A, E>,
  encode: (result: A) => unknown,
  run: Run
): RunEnd =>
  Exit.match(exit, {
    onSuccess: (result) => {
      const encoded = encode(result)
      const outcome = { result: bounded(encoded) }
      return computeRunVerdict(run, encoded) === "done"
        ? { state: "succeeded", outcome }
        // The endpoint still returns the result.
        : { state: "failed", outcome: { ...outcome, error: { status: 200, error: describeShortfall(encoded) } } }
    },
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () =>
          Cause.isInterruptedOnly(cause)
            ? failed("interrupted", new RunInterrupted({ kind: run.kind, step: findCurrentStep(run), resumes: false }))
            : failed("failed", defect),
        onSome: (error) => {
          if (error instanceof RunCancelled) {
            return failed("cancelled", new RunCancelled({ kind: run.kind, step: error.step, ...undoneBy(run) }))
          }
          if (error instanceof RunLost) return { state: run.state, outcome: {} }
          if (!(error instanceof RunInterrupted)) return failed("failed", error)
          return error.resumes ? { state: run.state, outcome: {} } : failed("interrupted", error)
        }
      })
  })
