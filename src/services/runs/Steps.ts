import * as Activity from "@effect/workflow/Activity"
import * as Workflow from "@effect/workflow/Workflow"
import { Complete } from "@effect/workflow/Workflow"
import * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import type { WorkflowEngine as EngineTag, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import {
  Clock,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  FiberRef,
  Layer,
  Option,
  Ref,
  Schedule,
  Schema,
  type Stream,
  SubscriptionRef
} from "effect"
import type { OutputStream, Run, RunKind, RunStep, Step, StepProgress, StepStatus } from "../../schema/runs.ts"
import { scrubSecrets, type Settings } from "../settings/Settings.ts"

/**
 * Appends a step, or replaces the entry of the same name and keeps its start. Recording the same end again, as a resumed
 * run does, keeps both times.
 */
const recordStep = (steps: ReadonlyArray<RunStep>, next: Step, now: string): ReadonlyArray<RunStep> => {
  const timed = (earlier: RunStep | undefined): RunStep => {
    const isOver = next.status !== "running"
    if (earlier !== undefined && isOver && earlier.status === next.status && earlier.detail === next.detail) {
      return earlier
    }
    return {
      ...next,
      startedAt: earlier?.startedAt ?? now,
      endedAt: isOver ? now : null,
      ...(earlier?.progress === undefined ? {} : { progress: earlier.progress })
    }
  }
  return steps.some(({ step }) => step === next.step)
    ? steps.map((step) => (step.step === next.step ? timed(step) : step))
    : [...steps, timed(undefined)]
}

export const updateProgress = (
  steps: ReadonlyArray<RunStep>,
  name: string,
  progress: StepProgress
): ReadonlyArray<RunStep> => steps.map((step) => (step.step === name ? { ...step, progress } : step))

/** Records the steps of the current run. */
export class Steps extends Context.Tag("berth/Steps")<Steps, {
  /** Id of the run; `-` outside of one. */
  readonly run: string
  readonly record: (step: Step) => Effect.Effect<void>
  /** Publishes the bytes transferred in a step, throttled to five times a second. */
  readonly progress: (step: string, done: number, total: number) => Effect.Effect<void>
  /**
   * Publishes output of a program: whole lines, without the secrets in use.
   * @param dropped number of lines before them that were dropped
   */
  readonly output: (stream: OutputStream, text: string, dropped?: number) => Effect.Effect<void>
  /** Reports whether an earlier attempt of the run has stored a result of the step, so that it is not repeated. */
  readonly hasResult: <A, I>(step: string, result: Schema.Schema<A, I>) => Effect.Effect<boolean>
  /**
   * Performs a step as a durable activity, or returns the result that an earlier attempt stored. Cancelling the run or
   * stopping the service does not interrupt it. `isRepeated`: an earlier attempt began it and may have done part of it.
   */
  readonly perform: <A, I, E, R>(
    step: string,
    result: Schema.Schema<A, I>,
    effect: (isRepeated: boolean) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
  /** Reports whether the run was cancelled; a shutdown does not count. */
  readonly isCancelled: Effect.Effect<boolean>
  /** Steps in the order of their first record. */
  readonly all: Effect.Effect<ReadonlyArray<Step>>
  /** Current steps, and those after every change. */
  readonly changes: Stream.Stream<ReadonlyArray<Step>>
}>() {}

/** Stores the results of steps and receives their changes. */
export interface StepStore extends Pick<Steps["Type"], "run" | "isCancelled" | "hasResult" | "perform" | "output"> {
  readonly initial: ReadonlyArray<RunStep>
  readonly onChange: (steps: ReadonlyArray<RunStep>) => Effect.Effect<void>
  readonly onProgress: (step: string, progress: StepProgress) => Effect.Effect<void>
}

const transientKeeper: StepStore = {
  run: "-",
  initial: [],
  onChange: () => Effect.void,
  onProgress: () => Effect.void,
  output: () => Effect.void,
  hasResult: () => Effect.succeed(false),
  isCancelled: Effect.succeed(false),
  perform: (_, __, effect) => effect(false)
}

const progressMillis = 200
const plain = ({ detail, status, step }: RunStep): Step => ({ step, status, detail })

/** Makes a recorder; without a keeper it starts empty and nothing is stored. */
export const makeSteps = (keeper: StepStore = transientKeeper): Effect.Effect<Steps["Type"]> =>
  Effect.gen(function*() {
    const steps = yield* Ref.make(keeper.initial)
    const current = yield* SubscriptionRef.make<ReadonlyArray<Step>>(keeper.initial.map(plain))
    const publishedAt = new Map<string, number>()
    const update = (change: (steps: ReadonlyArray<RunStep>) => ReadonlyArray<RunStep>) =>
      Ref.updateAndGet(steps, change).pipe(Effect.tap((all) => keeper.onChange(all)))
    return Steps.of({
      run: keeper.run,
      record: (step) =>
        Effect.gen(function*() {
          const now = new Date(yield* Clock.currentTimeMillis).toISOString()
          const next = yield* update((all) => recordStep(all, step, now))
          yield* SubscriptionRef.set(current, next.map(plain))
        }),
      progress: (step, done, total) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          // The absolute difference, since the clock may be set back.
          if (done < total && Math.abs(now - (publishedAt.get(step) ?? -progressMillis)) < progressMillis) return
          publishedAt.set(step, now)
          const progress = { done, total, unit: "bytes" } as const
          yield* Ref.update(steps, (all) => updateProgress(all, step, progress))
          yield* keeper.onProgress(step, progress)
        }),
      output: keeper.output,
      hasResult: keeper.hasResult,
      isCancelled: keeper.isCancelled,
      perform: keeper.perform,
      all: SubscriptionRef.get(current),
      changes: current.changes
    })
  })

/** Recorder for a program outside the service: a script or a test. */
export const StepsLive = Layer.effect(Steps, makeSteps())

/** End of a step other than a plain `done`. */
export interface StepOutcome {
  readonly status: Exclude<StepStatus, "running">
  readonly detail: string
}

const outcomeOf = (outcome: string | StepOutcome): StepOutcome =>
  typeof outcome === "string" ? { status: "done", detail: outcome } : outcome

const recordEnd = (name: string, { detail, status }: StepOutcome): Effect.Effect<void, never, Steps | Settings> =>
  Effect.gen(function*() {
    const words = yield* scrubSecrets(detail)
    yield* (yield* Steps).record({ step: name, status, detail: words })
  })

/**
 * Executes one step of a pipeline: records it as `running`, then as `outcome` of its result, or as `error`; the error is
 * passed on unchanged. Secrets are removed from details, which may quote a server or an upstream.
 */
export const executeStep = <A, E extends { readonly message: string }, R>(
  name: string,
  effect: Effect.Effect<A, E, R>,
  outcome: (result: A) => string | StepOutcome
): Effect.Effect<A, E, R | Steps | Settings> =>
  Effect.gen(function*() {
    const steps = yield* Steps
    yield* steps.record({ step: name, status: "running", detail: "" })
    const result = yield* Effect.tapError(
      effect,
      ({ message }) => recordEnd(name, { status: "error", detail: message })
    )
    yield* recordEnd(name, outcomeOf(outcome(result)))
    return result
  }).pipe(Effect.withSpan(`step.${name}`))

/** Like `step` for the steps of one program: wraps an error in the program's own error, which names the step. */
export const makeStageExecutor =
  <F>(failure: (step: string, error: { readonly message: string }) => F) =>
  <A, E extends { readonly message: string }, R>(
    name: string,
    effect: Effect.Effect<A, E, R>,
    outcome: (result: A) => string | StepOutcome
  ): Effect.Effect<A, F, R | Steps | Settings> =>
    Effect.mapError(executeStep(name, effect, outcome), (error) => failure(name, error))

/**
 * Executes a step whose result is stored: a resumed run reuses it. A step that was under way when the process died is
 * repeated, with `isRepeated`.
 */
export const executeDurableStep = <A, I, E extends { readonly message: string }, R>(
  name: string,
  result: Schema.Schema<A, I>,
  effect: (isRepeated: boolean) => Effect.Effect<A, E, R>,
  outcome: (result: A) => string | StepOutcome
): Effect.Effect<A, E, R | Steps | Settings> =>
  Effect.gen(function*() {
    const steps = yield* Steps
    const performed = steps.perform(name, result, effect)
    if (!(yield* steps.hasResult(name, result))) return yield* executeStep(name, performed, outcome)
    return yield* Effect.tap(performed, (earlier) => recordEnd(name, outcomeOf(outcome(earlier))))
  })

/** Computes a value once per run and returns the same one in every attempt; it is not recorded as a step. */
export const computeOnce = <A, I, E, R>(
  name: string,
  result: Schema.Schema<A, I>,
  effect: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Steps> => Effect.flatMap(Steps, (steps) => steps.perform(name, result, effect))

/** Records a skipped step and the reason. */
export const skipStep = (name: string, detail: string): Effect.Effect<void, never, Steps> =>
  Effect.flatMap(Steps, (steps) => steps.record({ step: name, status: "skipped", detail }))

/** Name of the running step of a run, else of its last one; null for a run that has not begun. */
export const findCurrentStep = ({ startedAt, steps }: Run): string | null =>
  startedAt === null
    ? null
    : (steps.find(({ status }) => status === "running") ?? steps.at(-1))?.step ?? "its beginning"

/** Signal that the run of a fiber has lost its ownership. */
const ownershipLost = FiberRef.unsafeMake(Option.none<Deferred.Deferred<never>>())

/** Ends even uncancellable parts of an effect once the signal fails: a peer may execute the same run by then. */
export const untilOwnershipLost =
  (signal: Deferred.Deferred<never>) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locally(effect, ownershipLost, Option.some(signal))

/** Completes an effect even when its caller is interrupted; time-outs within it still apply. */
export const uncancellable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(ownershipLost), (lost) => {
    const whole = Option.match(lost, {
      onNone: () => effect,
      onSome: (signal) =>
        Effect.if(Deferred.isDone(signal), {
          onTrue: () => Deferred.await(signal),
          onFalse: () => Effect.raceFirst(effect, Deferred.await(signal))
        })
    })
    return Effect.uninterruptible(Effect.flatMap(Effect.forkDaemon(Effect.interruptible(whole)), Fiber.join))
  })

/** Durable record of the activities of one workflow: those that began, and their results as JSON. */
export interface ActivityStore {
  /** Stored result of an activity; none until it has ended. */
  readonly recall: (activity: string) => Effect.Effect<Option.Option<unknown>>
  /**
   * Records the start of an activity before it is performed. Implementations must not be interruptible once the record
   * is written.
   */
  readonly begin: (activity: string) => Effect.Effect<void>
  readonly complete: (activity: string, result: unknown) => Effect.Effect<void>
}

/**
 * Engine for one execution of a workflow with durable activities. An activity with a stored result is not performed
 * again; an activity that was in progress is. A new engine over the same store resumes the execution.
 *
 * Interrupting the workflow does not interrupt an activity. Failures are not stored, and results that do not decode
 * come from another version: both are performed again. A second activity of the same name is a defect.
 */
export const activityEngine = (store: ActivityStore): Layer.Layer<WorkflowEngine.WorkflowEngine> =>
  Layer.fresh(WorkflowEngine.layerMemory).pipe(
    Layer.flatMap((context) =>
      Layer.effect(
        WorkflowEngine.WorkflowEngine,
        Effect.map(Effect.provide(WorkflowEngine.WorkflowEngine, context), (memory) => {
          const met = new Set<string>()
          const engine: WorkflowEngine.WorkflowEngine["Type"] = {
            ...memory,
            register: (workflow, execute) =>
              memory.register(workflow, (payload, id) =>
                Effect.provideService(execute(payload, id), WorkflowEngine.WorkflowEngine, engine)),
            activityExecute: (activity) =>
              Effect.gen(function*() {
                const { name } = activity
                if (met.has(name)) {
                  return yield* Effect.dieMessage(`There are two activities named ${name}`)
                }
                met.add(name)
                const kept = yield* store.recall(name)
                if (Option.isSome(kept)) {
                  const exit = yield* Effect.option(Schema.decode(activity.exitSchema)(Exit.succeed(kept.value)))
                  if (Option.isSome(exit)) {
                    return new Complete({ exit: exit.value })
                  }
                }
                const perform = Effect.gen(function*() {
                  const exit = yield* Effect.exit(Effect.scoped(activity.execute))
                  const encoded = yield* Effect.orDie(Schema.encode(activity.exitSchema)(exit))
                  if (Exit.isSuccess(encoded)) {
                    yield* store.complete(name, encoded.value)
                  }
                  return new Complete({ exit })
                })
                // An activity that is recorded but not performed would look interrupted to the next attempt.
                return yield* Effect.uninterruptible(Effect.zipRight(store.begin(name), uncancellable(perform)))
              }).pipe(Effect.provideService(WorkflowEngine.WorkflowEngine, engine))
          }
          return engine
        })
      )
    )
  )

/** A step failed; the run holds the error. Failures are not stored: a resumed run tries again. */
export class StepFailed extends Schema.TaggedError<StepFailed>()("StepFailed", { step: Schema.String }) {
  override get message() {
    return `The step ${this.step} failed`
  }
}

/** A run failed; the run holds the error. */
export class RunFailed extends Schema.TaggedError<RunFailed>()("RunFailed", { run: Schema.String }) {
  override get message() {
    return `The run ${this.run} failed`
  }
}

/**
 * Versions of the workflows. Increment one when a step gets another meaning: unfinished runs of older versions are then
 * recorded as interrupted instead of being resumed.
 */
const versions: Readonly<Record<RunKind, number>> = {
  deploy: 1,
  rollback: 1,
  stack: 1,
  build: 1,
  pull: 1,
  upsert: 1,
  exec: 1,
  "deploy-all": 1,
  prune: 1,
  backup: 1,
  restore: 1
}

/**
 * Workflow of the runs of one kind. Its payload is the run's id alone: request, steps and end are in the store of runs,
 * where they can be purged.
 */
export const runWorkflow = (kind: RunKind) =>
  Workflow.make({
    name: `${kind}/v${versions[kind]}`,
    payload: { run: Schema.String },
    error: RunFailed,
    idempotencyKey: ({ run }) => run
  })

/**
 * Performs a step as an activity of the current workflow. Its error is passed to the caller unchanged; the workflow sees
 * only `StepFailed`.
 */
export const performActivity = <A, I, E, R>(
  workflow: Context.Context<EngineTag | WorkflowInstance>,
  step: string,
  result: Schema.Schema<A, I>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const failure = yield* Ref.make(Option.none<Exit.Exit<never, E>>())
    const activity = Activity.make({
      name: step,
      success: result,
      error: StepFailed,
      execute: Effect.flatMap(
        Effect.exit(effect),
        Exit.match({
          onSuccess: (value) => Effect.succeed(value),
          onFailure: (cause) =>
            Effect.zipRight(Ref.set(failure, Option.some(Exit.failCause(cause))), new StepFailed({ step }))
        })
      ),
      interruptRetryPolicy: Schedule.stop
    })
    return yield* Effect.catchAll(Effect.provide(activity, workflow), (failed) =>
      Effect.flatMap(Ref.get(failure), Option.getOrElse(() => Exit.die(failed))))
  })
