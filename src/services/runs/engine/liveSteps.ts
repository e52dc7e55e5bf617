import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { type Context, Deferred, Effect, Option, Ref, Schema } from "effect"
import type { Run } from "../../../schema/runs/Run.ts"
import {
  RunCancelled,
  type RunInterrupted,
  type RunLost,
  type RunStoreUnavailable
} from "../../../schema/runs/runFailures.ts"
import { isSameJson, scrubJson } from "../../secrets/scrubbedJson.ts"
import { secretsInUse } from "../../secrets/secretsInUse.ts"
import { Settings } from "../../settings/Settings.ts"
import type { EventLog } from "../events/eventLog.ts"
import type { OutputLog } from "../events/outputLog.ts"
import { updateProgress } from "../recordStep.ts"
import type { StepResult } from "../RunOwnership.ts"
import { makeSteps, type Steps, type StepStore } from "../Steps.ts"
import type { ActivityStore } from "../workflow/activityEngine.ts"
import { performActivity } from "../workflow/performActivity.ts"
import type { RunWriter } from "./runWriter.ts"

/** Signal that stops a program at its next safe point, with a failure. */
export type StopSignal = Deferred.Deferred<never, RunCancelled | RunInterrupted | RunLost>

export interface LiveSteps {
  readonly activities: ActivityStore
  /** Recorder of steps for the workflow that executes the run. */
  readonly steps: Effect.Effect<Steps["Type"], never, WorkflowEngine | WorkflowInstance>
}

/** Parts of a live run that its steps write to. */
interface LiveParts {
  readonly attempt: number
  readonly start: Run
  readonly current: Ref.Ref<Run>
  readonly log: EventLog
  readonly output: OutputLog
  readonly stop: StopSignal
  /** Results of an earlier attempt. */
  readonly stepResults: ReadonlyArray<StepResult>
}

/** Records the steps of a run, in its events and in the store. */
export const makeLiveSteps = (
  { attempt, current, log, output, start, stepResults, stop }: LiveParts,
  writer: RunWriter
): Effect.Effect<LiveSteps, never, Settings> =>
  Effect.map(Settings, (settings) => {
    const { id } = start
    const fence = { id, attempt }
    const results = new Map(stepResults.map(({ result, step }) => [step, result]))
    const resultOf = (step: string) => Option.flatten(Option.fromNullable(results.get(step)))

    // Replaced by the recorder below: a stalled write is reported in its step.
    let record: Steps["Type"]["record"] = () => Effect.void
    const onStalled = (step: string) => ({ message }: RunStoreUnavailable) =>
      record({ step, status: "running", detail: `waiting to be recorded: ${message}` })

    const activities: ActivityStore = {
      recall: (step) => Effect.sync(() => resultOf(step)),
      begin: (step) => writer.beginStep(fence, step, onStalled(step)),
      complete: (step, json) =>
        Effect.gen(function*() {
          // A result that contains a secret is not stored: after a restart its step is repeated.
          const secrets = yield* Effect.provideService(secretsInUse, Settings, settings)
          if (!isSameJson(json, scrubJson(json, secrets))) return
          yield* writer.completeStep(fence, step, json, onStalled(step))
        })
    }
    const keeper = (workflow: Context.Context<WorkflowEngine | WorkflowInstance>): StepStore => ({
      run: id,
      initial: start.steps,
      onChange: (steps) =>
        Ref.updateAndGet(current, (run) => ({ ...run, steps })).pipe(
          Effect.flatMap((run) => log.add("run", run)),
          Effect.zipRight(writer.saveSoon(id))
        ),
      onProgress: (step, progress) =>
        Ref.update(current, (run) => ({ ...run, steps: updateProgress(run.steps, step, progress) })).pipe(
          Effect.zipRight(log.add("progress", { step, ...progress })),
          Effect.zipRight(writer.saveSoon(id))
        ),
      output: output.add,
      isCancelled: Effect.flatMap(
        Deferred.poll(stop),
        Option.match({
          onNone: () => Effect.succeed(false),
          onSome: Effect.match({ onFailure: (why) => why instanceof RunCancelled, onSuccess: () => false })
        })
      ),
      hasResult: (step, schema) =>
        Option.match(resultOf(step), {
          onNone: () => Effect.succeed(false),
          // A result of another version may not decode: such a step is repeated.
          onSome: (json) => Effect.isSuccess(Schema.decodeUnknown(schema)(json))
        }),
      perform: (step, schema, effect) => performActivity(workflow, step, schema, effect(results.has(step)))
    })
    return {
      activities,
      steps: Effect.contextWithEffect((workflow: Context.Context<WorkflowEngine | WorkflowInstance>) =>
        Effect.tap(makeSteps(keeper(workflow)), (steps) =>
          Effect.sync(() => {
            record = steps.record
          }))
      )
    }
  })
