import { Clock, Context, Effect, Layer, Ref, type Schema, type Stream, SubscriptionRef } from "effect"
import type { OutputStream, RunStep, StepProgress } from "../../schema/runs/Run.ts"
import type { Step, StepStatus } from "../../schema/runs/Step.ts"
import { scrubSecrets } from "../secrets/secretsInUse.ts"
import type { Settings } from "../settings/Settings.ts"
import { recordStep, updateProgress } from "./recordStep.ts"

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
