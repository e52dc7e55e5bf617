import { Complete } from "@effect/workflow/Workflow"
import * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { uncancellable } from "./Steps.ts"

/** Where the activities of one workflow are kept: which of them began, and what they came to, as JSON. */
export interface ActivityStore {
  /** The result that an activity had before; nothing when it has not ended. */
  readonly recall: (activity: string) => Effect.Effect<Option.Option<unknown>>
  /**
   * Notes that an activity begins. It is not begun before that is written, and is performed once it is: an implementation
   * is interruptible only while nothing is written.
   */
  readonly begin: (activity: string) => Effect.Effect<void>
  readonly keep: (activity: string, result: unknown) => Effect.Effect<void>
}

/**
 * An engine for one execution of a workflow, whose activities outlive the process: one that has ended is not performed
 * again, one that was under way is. Make it anew to go on with an execution that an earlier process left.
 *
 * An activity is not cut off halfway when its workflow is. A result that does not fit the activity any more was kept by
 * another version, and the activity is performed again; a failure is not kept. Two activities of one name would share a
 * result: the second is a defect.
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
                    yield* store.keep(name, encoded.value)
                  }
                  return new Complete({ exit })
                })
                // Noted and not performed, it would look to the next attempt like one that was cut off.
                return yield* Effect.uninterruptible(Effect.zipRight(store.begin(name), uncancellable(perform)))
              }).pipe(Effect.provideService(WorkflowEngine.WorkflowEngine, engine))
          }
          return engine
        })
      )
    )
  )
