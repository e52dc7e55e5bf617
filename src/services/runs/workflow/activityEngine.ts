import { Complete } from "@effect/workflow/Workflow"
import * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { uncancellable } from "../uncancellable.ts"

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
