import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { Clock, type Context, Deferred, Effect, Option, Ref, Schema } from "effect"
import {
  isEnded,
  type Run,
  RunCancelled,
  type RunError,
  type RunInterrupted,
  RunLeft,
  type RunState,
  type RunStep,
  type RunStoreUnavailable
} from "../../schema/Run.ts"
import { scrubbed } from "../secrets/scrubbed.ts"
import { sameJson, scrubbedJson } from "../secrets/scrubbedJson.ts"
import { secretsInUse } from "../secrets/secretsInUse.ts"
import { Settings } from "../settings/Settings.ts"
import type { ActivityStore } from "./activityEngine.ts"
import { type EventLog, makeEventLog } from "./eventLog.ts"
import { makeOutputLog } from "./outputLog.ts"
import { performActivity } from "./performActivity.ts"
import type { AfterRestart } from "./Runs.ts"
import type { KeptStep } from "./RunStore.ts"
import type { RunWriter } from "./runWriter.ts"
import { makeSteps, type Steps, type StepsKeeper } from "./Steps.ts"

// Ids of events go on in the next attempt after any that the last one can have given.
const idsOfAttempt = 1_000_000_000

/** A run that this process executes. */
export interface LiveRun {
  readonly id: string
  readonly now: Effect.Effect<Run>
  /** What its activities come to. */
  readonly activities: ActivityStore
  /** The recorder of its steps, for the workflow that carries it out. */
  readonly steps: Effect.Effect<Steps["Type"], never, WorkflowEngine | WorkflowInstance>
  readonly log: EventLog
  /** Keeps what it has printed and is not kept yet, for who watches from elsewhere. */
  readonly keepOutput: Effect.Effect<void>
  readonly attempt: number
  /** What the next start of the service does with it when this one ends before it. */
  readonly afterRestart: AfterRestart
  /** Fails the program at its next safe point. */
  readonly stop: Deferred.Deferred<never, RunCancelled | RunInterrupted | RunLeft>
  /** Ends it at once, also in the middle of a step: another process may go on with it. */
  readonly leave: Effect.Effect<void>
  /** Fails when it has been left. */
  readonly isLeft: Deferred.Deferred<never>
  /** Completes when the program has ended. */
  readonly ended: Deferred.Deferred<void>
  readonly begin: Effect.Effect<void>
  /** Ends it in a state; in `running` it only stops here, and the next start of the service goes on with it. */
  readonly end: (state: RunState, outcome: RunOutcome) => Effect.Effect<void>
}

/** What a run came to. */
export interface RunOutcome {
  readonly result?: unknown
  readonly error?: RunError
}

/** What a run starts from: nothing, or what an earlier attempt left. */
export interface RunStart {
  readonly run: Run
  readonly attempt: number
  readonly kept: ReadonlyArray<KeptStep>
}

const timeNow = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

export const makeLiveRun = (
  { attempt, kept, run: start }: RunStart,
  afterRestart: AfterRestart,
  writer: RunWriter
): Effect.Effect<LiveRun, never, Settings> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const secrets = Effect.provideService(secretsInUse, Settings, settings)
    const { id } = start
    const hold = { id, attempt }
    const current = yield* Ref.make(start)
    const log = yield* makeEventLog(attempt > 1 ? (attempt - 1) * idsOfAttempt : 0)
    const output = yield* makeOutputLog(log, (events) => writer.events(hold, events))
    const now = Ref.get(current)
    const stop = yield* Deferred.make<never, RunCancelled | RunInterrupted | RunLeft>()
    const isLeft = yield* Deferred.make<never>()
    const results = new Map(kept.map(({ result, step }) => [step, result]))

    const change = (how: (run: Run) => Run) =>
      Effect.flatMap(Ref.updateAndGet(current, how), (run) => log.add("run", run))

    // Replaced by the real recorder below: what stalls is told as part of the step that it stalls.
    let record: Steps["Type"]["record"] = () => Effect.void
    const stalled = (step: string) => ({ message }: RunStoreUnavailable) =>
      record({ step, status: "running", detail: `waiting to be recorded: ${message}` })

    const resultOf = (step: string) => Option.flatten(Option.fromNullable(results.get(step)))
    const keeper = (workflow: Context.Context<WorkflowEngine | WorkflowInstance>): StepsKeeper => ({
      run: id,
      initial: start.steps,
      changed: (steps) => Effect.zipRight(change((run) => ({ ...run, steps })), writer.later(id)),
      progressed: (step, progress) =>
        Effect.zipRight(
          Ref.update(current, (run) => ({
            ...run,
            steps: run.steps.map((each) => each.step === step ? { ...each, progress } : each)
          })),
          Effect.zipRight(log.add("progress", { step, ...progress }), writer.later(id))
        ),
      output: output.add,
      isCancelled: Effect.flatMap(
        Deferred.poll(stop),
        Option.match({
          onNone: () => Effect.succeed(false),
          onSome: Effect.match({ onFailure: (why) => why instanceof RunCancelled, onSuccess: () => false })
        })
      ),
      isKept: (step, schema) =>
        Option.match(resultOf(step), {
          onNone: () => Effect.succeed(false),
          // What an older version kept may not fit any more: such a step is performed again.
          onSome: (json) => Effect.isSuccess(Schema.decodeUnknown(schema)(json))
        }),
      perform: (step, schema, effect) => performActivity(workflow, step, schema, effect(results.has(step)))
    })
    const activities: ActivityStore = {
      recall: (step) => Effect.sync(() => resultOf(step)),
      begin: (step) => writer.beginStep(hold, step, stalled(step)),
      keep: (step, json) =>
        Effect.gen(function*() {
          // What holds a secret is not kept, so that step is performed again where it has to be.
          if (!sameJson(json, scrubbedJson(json, yield* secrets))) return
          yield* writer.keepStep(hold, step, json, stalled(step))
        })
    }
    return {
      id,
      attempt,
      afterRestart,
      now,
      activities,
      steps: Effect.contextWithEffect((workflow: Context.Context<WorkflowEngine | WorkflowInstance>) =>
        Effect.tap(makeSteps(keeper(workflow)), (steps) =>
          Effect.sync(() => {
            record = steps.record
          }))
      ),
      log,
      keepOutput: output.flush,
      stop,
      leave: Effect.zipRight(
        Deferred.fail(stop, new RunLeft({ id, kind: start.kind })),
        Effect.asVoid(Deferred.interrupt(isLeft))
      ),
      isLeft,
      ended: yield* Deferred.make<void>(),
      begin: Effect.gen(function*() {
        const startedAt = yield* timeNow
        yield* change((run) => ({ ...run, state: "running", startedAt: run.startedAt ?? startedAt }))
        yield* writer.now(id)
      }),
      end: (state, outcome) =>
        Effect.gen(function*() {
          const endedAt = isEnded(state) ? yield* timeNow : null
          yield* output.flush
          const known = yield* secrets
          const result = scrubbedJson(outcome.result ?? null, known)
          const error = outcome.error === undefined
            ? null
            : { ...outcome.error, error: scrubbed(outcome.error.error, known) }
          // What was under way when an earlier attempt ended, and what that came to after all.
          const hasResult = outcome.result !== undefined
          const status = hasResult ? "done" : "error"
          const detail = hasResult ? "came to its end while no service waited for it" : state
          const closed = (step: RunStep): RunStep =>
            endedAt === null || step.status !== "running" ? step : { ...step, status, detail, endedAt }
          yield* change((run) => ({ ...run, state, endedAt, result, error, steps: run.steps.map(closed) }))
          yield* writer.now(id)
          if (isEnded(state)) yield* log.add("end", yield* now)
          yield* log.close
        })
    } satisfies LiveRun
  })
