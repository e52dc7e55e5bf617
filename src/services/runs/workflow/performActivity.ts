import * as Activity from "@effect/workflow/Activity"
import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { type Context, Effect, Exit, Option, Ref, Schedule, type Schema } from "effect"
import { StepFailed } from "./runWorkflow.ts"

/**
 * Performs a step as an activity of the current workflow. Its error is passed to the caller unchanged; the workflow sees
 * only `StepFailed`.
 */
export const performActivity = <A, I, E, R>(
  workflow: Context.Context<WorkflowEngine | WorkflowInstance>,
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
