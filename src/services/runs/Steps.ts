import {
  Clock,
  Context,
  Deferred,
  Effect,
  Fiber,
  FiberRef,
  Layer,
  Option,
  Ref,
  type Schema,
  type Stream,
  SubscriptionRef
} from "effect"
import type { OutputStream, RunStep, StepProgress } from "../../schema/Run.ts"
import type { Step, StepStatus } from "../../schema/Step.ts"
import { withoutSecrets } from "../secrets/secretsInUse.ts"
import type { Settings } from "../settings/Settings.ts"
import { recordedAt, withProgress } from "./recordedSteps.ts"

/** The steps of the run that is under way. */
export class Steps extends Context.Tag("berth/Steps")<Steps, {
  /** The id of the run; `-` outside of one. */
  readonly run: string
  readonly record: (step: Step) => Effect.Effect<void>
  /** Tells how many bytes of a step have passed; more than five times a second are not told. */
  readonly progress: (step: string, done: number, total: number) => Effect.Effect<void>
  /**
   * Tells what a program of the run has written: whole lines without the secrets in use.
   * @param dropped how many lines came before them that are not told
   */
  readonly output: (stream: OutputStream, text: string, dropped?: number) => Effect.Effect<void>
  /** Whether a step has a result of an earlier attempt of this run, which it is not performed again for. */
  readonly isKept: <A, I>(step: string, result: Schema.Schema<A, I>) => Effect.Effect<boolean>
  /**
   * Performs a step so that its result outlives the process, or answers the one that an earlier attempt kept. It is not
   * cut off halfway when the run is cancelled or the service stops. `isRepeated` says that an earlier attempt began the
   * step and may have done all or part of it.
   */
  readonly perform: <A, I, E, R>(
    step: string,
    result: Schema.Schema<A, I>,
    effect: (isRepeated: boolean) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
  /** Whether somebody has cancelled the run; a service that ends has not. */
  readonly isCancelled: Effect.Effect<boolean>
  /** The steps so far, in the order of their first appearance. */
  readonly all: Effect.Effect<ReadonlyArray<Step>>
  /** The steps now and after every change. */
  readonly changes: Stream.Stream<ReadonlyArray<Step>>
}>() {}

/** Keeps what steps come to, and hears of what happens in them. */
export interface StepsKeeper extends Pick<Steps["Type"], "run" | "isCancelled" | "isKept" | "perform" | "output"> {
  readonly initial: ReadonlyArray<RunStep>
  readonly changed: (steps: ReadonlyArray<RunStep>) => Effect.Effect<void>
  readonly progressed: (step: string, progress: StepProgress) => Effect.Effect<void>
}

/** What ends everything in the run that a fiber belongs to. */
const leaving = FiberRef.unsafeMake(Option.none<Deferred.Deferred<never>>())

/** Ends what is uncancellable in an effect too, once this fails: another process may be doing the same by then. */
export const unlessLeft =
  (isLeft: Deferred.Deferred<never>) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locally(effect, leaving, Option.some(isLeft))

/** Lets an effect come to its end whatever happens to the fiber that waits for it; its own time-outs still hold. */
export const uncancellable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(leaving), (left) => {
    const whole = Option.match(left, {
      onNone: () => effect,
      onSome: (isLeft) =>
        Effect.if(Deferred.isDone(isLeft), {
          onTrue: () => Deferred.await(isLeft),
          onFalse: () => Effect.raceFirst(effect, Deferred.await(isLeft))
        })
    })
    return Effect.uninterruptible(Effect.flatMap(Effect.forkDaemon(Effect.interruptible(whole)), Fiber.join))
  })

const forgetful: StepsKeeper = {
  run: "-",
  initial: [],
  changed: () => Effect.void,
  progressed: () => Effect.void,
  output: () => Effect.void,
  isKept: () => Effect.succeed(false),
  isCancelled: Effect.succeed(false),
  perform: (_, __, effect) => effect(false)
}

const progressMillis = 200
const plain = ({ detail, status, step }: RunStep): Step => ({ step, status, detail })

/** A recorder of steps; without a keeper it starts empty and nothing outlives it. */
export const makeSteps = (keeper: StepsKeeper = forgetful): Effect.Effect<Steps["Type"]> =>
  Effect.gen(function*() {
    const steps = yield* Ref.make(keeper.initial)
    const plainly = yield* SubscriptionRef.make<ReadonlyArray<Step>>(keeper.initial.map(plain))
    const told = new Map<string, number>()
    const update = (change: (steps: ReadonlyArray<RunStep>) => ReadonlyArray<RunStep>) =>
      Ref.updateAndGet(steps, change).pipe(Effect.tap((all) => keeper.changed(all)))
    return Steps.of({
      run: keeper.run,
      record: (step) =>
        Effect.gen(function*() {
          const now = new Date(yield* Clock.currentTimeMillis).toISOString()
          const next = yield* update((all) => recordedAt(all, step, now))
          yield* SubscriptionRef.set(plainly, next.map(plain))
        }),
      progress: (step, done, total) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          // Either way: the clock may have been set back since.
          if (done < total && Math.abs(now - (told.get(step) ?? -progressMillis)) < progressMillis) return
          told.set(step, now)
          const progress = { done, total, unit: "bytes" } as const
          yield* Ref.update(steps, (all) => withProgress(all, step, progress))
          yield* keeper.progressed(step, progress)
        }),
      output: keeper.output,
      isKept: keeper.isKept,
      isCancelled: keeper.isCancelled,
      perform: keeper.perform,
      all: SubscriptionRef.get(plainly),
      changes: plainly.changes
    })
  })

/** Steps for a program that runs outside the service, in a script or a test. */
export const StepsLive = Layer.effect(Steps, makeSteps())

/** How a step ended, when that is more than `done`. */
export interface StepOutcome {
  readonly status: Exclude<StepStatus, "running">
  readonly detail: string
}

const outcomeOf = (outcome: string | StepOutcome): StepOutcome =>
  typeof outcome === "string" ? { status: "done", detail: outcome } : outcome

const recordEnd = (name: string, { detail, status }: StepOutcome): Effect.Effect<void, never, Steps | Settings> =>
  Effect.gen(function*() {
    const words = yield* withoutSecrets(detail)
    yield* (yield* Steps).record({ step: name, status, detail: words })
  })

/**
 * Runs one step of a pipeline: records it as `running`, then as what `outcome` says of its result (`done` when that is
 * only a detail). A step that fails is recorded as `error`; its error passes on unchanged. Details are shown without
 * the secrets in use, since what an upstream or a server said may be part of them.
 */
export const step = <A, E extends { readonly message: string }, R>(
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

/** Steps of one program, like `step`: a failure of one becomes the program's own, which names the step. */
export const stages =
  <F>(failure: (step: string, error: { readonly message: string }) => F) =>
  <A, E extends { readonly message: string }, R>(
    name: string,
    effect: Effect.Effect<A, E, R>,
    outcome: (result: A) => string | StepOutcome
  ): Effect.Effect<A, F, R | Steps | Settings> =>
    Effect.mapError(step(name, effect, outcome), (error) => failure(name, error))

/**
 * A step whose result outlives the process: a run that goes on in another one takes the result and does not repeat the
 * step. One that was under way when the process died is performed again and told so.
 */
export const durableStep = <A, I, E extends { readonly message: string }, R>(
  name: string,
  result: Schema.Schema<A, I>,
  effect: (isRepeated: boolean) => Effect.Effect<A, E, R>,
  outcome: (result: A) => string | StepOutcome
): Effect.Effect<A, E, R | Steps | Settings> =>
  Effect.gen(function*() {
    const steps = yield* Steps
    const performed = steps.perform(name, result, effect)
    if (!(yield* steps.isKept(name, result))) return yield* step(name, performed, outcome)
    return yield* Effect.tap(performed, (earlier) => recordEnd(name, outcomeOf(outcome(earlier))))
  })

/** Something that is made once in a run and stays the same in every attempt of it; no step tells of it. */
export const once = <A, I, E, R>(
  name: string,
  result: Schema.Schema<A, I>,
  effect: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Steps> => Effect.flatMap(Steps, (steps) => steps.perform(name, result, effect))

/** Records a step that is not taken, and why. */
export const skip = (name: string, detail: string): Effect.Effect<void, never, Steps> =>
  Effect.flatMap(Steps, (steps) => steps.record({ step: name, status: "skipped", detail }))
