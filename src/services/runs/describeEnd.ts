import { Cause, Exit, Option, Predicate } from "effect"
import { type Run, RunCancelled, RunInterrupted, RunLeft, type RunState } from "../../schema/Run.ts"
import { describeShortfall, runVerdict } from "../../schema/runVerdict.ts"
import type { RunOutcome } from "./liveRun.ts"

/** The state that a run ends in, and its result, its error, or both where the result is not good. `running` means that the next start goes on with it. */
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

const capitalized = (text: string) => text.replace(/^./, (first) => first.toUpperCase())

/** State that a cancelled run has left, as its steps tell it: how it was undone, or what was done to a stack. */
const undoneBy = ({ kind, steps, subject }: Run): { readonly undone?: string } => {
  const telling = steps.find(({ step }) => step === (kind === "stack" ? subject.action : "rollback"))
  if (telling === undefined || telling.status === "running" || telling.detail === "") return {}
  const isFailedUndo = kind !== "stack" && telling.status === "error"
  return {
    undone: isFailedUndo
      ? `What ran before could not be started again, so the new version is left as it is: ${telling.detail}`
      : capitalized(telling.detail)
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
    onSuccess: (result) => {
      const encoded = encode(result)
      const outcome = { result: bounded(encoded) }
      return runVerdict(run, encoded) === "done"
        ? { state: "succeeded", outcome }
        // Its endpoint answers the result all the same.
        : { state: "failed", outcome: { ...outcome, error: { status: 200, error: describeShortfall(encoded) } } }
    },
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () =>
          Cause.isInterruptedOnly(cause)
            ? failed("interrupted", new RunInterrupted({ kind: run.kind, step: stepUnderWay(run), resumes: false }))
            : failed("failed", defect),
        onSome: (error) => {
          if (error instanceof RunCancelled) {
            return failed("cancelled", new RunCancelled({ kind: run.kind, step: error.step, ...undoneBy(run) }))
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
