import { Context, Effect, Layer, type Stream, SubscriptionRef } from "effect"
import { recorded } from "../../schema/Step.ts"
import type { Step, StepStatus } from "../../schema/Step.ts"
import { withoutSecrets } from "../secrets/secretsInUse.ts"
import type { Settings } from "../settings/Settings.ts"

/** The steps of the run that is under way. */
export class Steps extends Context.Tag("berth/Steps")<Steps, {
  readonly record: (step: Step) => Effect.Effect<void>
  /** The steps so far, in the order of their first appearance. */
  readonly all: Effect.Effect<ReadonlyArray<Step>>
  /** The steps now and after every change. */
  readonly changes: Stream.Stream<ReadonlyArray<Step>>
}>() {}

/** A recorder that starts empty. */
export const makeSteps: Effect.Effect<Steps["Type"]> = Effect.map(
  SubscriptionRef.make<ReadonlyArray<Step>>([]),
  (steps) =>
    Steps.of({
      record: (step) => SubscriptionRef.update(steps, (all) => recorded(all, step)),
      all: SubscriptionRef.get(steps),
      changes: steps.changes
    })
)

/** Steps for a program that runs outside the service, in a script or a test. */
export const StepsLive = Layer.effect(Steps, makeSteps)

/** How a step ended, when that is more than `done`. */
export interface StepOutcome {
  readonly status: Exclude<StepStatus, "running">
  readonly detail: string
}

const outcomeOf = (outcome: string | StepOutcome): StepOutcome =>
  typeof outcome === "string" ? { status: "done", detail: outcome } : outcome

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
    const ended = ({ detail, status }: StepOutcome) =>
      Effect.flatMap(withoutSecrets(detail), (words) => steps.record({ step: name, status, detail: words }))
    yield* steps.record({ step: name, status: "running", detail: "" })
    const result = yield* Effect.tapError(effect, ({ message }) => ended({ status: "error", detail: message }))
    yield* ended(outcomeOf(outcome(result)))
    return result
  }).pipe(Effect.withSpan(`step.${name}`))

/** Records a step that is not taken, and why. */
export const skip = (name: string, detail: string): Effect.Effect<void, never, Steps> =>
  Effect.flatMap(Steps, (steps) => steps.record({ step: name, status: "skipped", detail }))
