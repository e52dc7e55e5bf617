import * as Workflow from "@effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import { type RunFailure, RunInterrupted, RunLost } from "../../../schema/runs/runFailures.ts"
import { type FileLocked, Locks } from "../../locks/Locks.ts"
import type { RunSpec } from "../Runs.ts"
import { untilOwnershipLost } from "../uncancellable.ts"
import { activityEngine } from "../workflow/activityEngine.ts"
import { RunFailed, runWorkflow } from "../workflow/runWorkflow.ts"
import { describeEnd } from "./describeEnd.ts"
import type { LiveRun } from "./liveRun.ts"

interface Execution<A, E> {
  readonly run: LiveRun
  readonly result: Deferred.Deferred<A, E | RunFailure | FileLocked>
  /** Waits until all earlier runs of its queue have ended, in any process. */
  readonly turn: Effect.Effect<void>
  /** Executed when its end is recorded, before waiters are notified. */
  readonly onEnded: Effect.Effect<void>
}

/** Body of a run's workflow: its program, and the recording of its end. */
const executeWorkflow = <A, I, E extends { readonly message: string }>(
  spec: RunSpec<A, I>,
  program: Effect.Effect<A, E, WorkflowEngine | WorkflowInstance>,
  locks: Locks["Type"],
  { onEnded, result, run, turn }: Execution<A, E>
) =>
  Effect.zipRight(turn, locks.withLock(spec.key)(Effect.zipRight(run.begin, program))).pipe(
    untilOwnershipLost(run.ownershipLost),
    Effect.raceFirst(Deferred.await(run.stop)),
    Effect.interruptible,
    Effect.onExit((exit) =>
      Effect.gen(function*() {
        const { outcome, state } = describeEnd(exit, Schema.encodeSync(spec.result), yield* run.now)
        yield* run.end(state, outcome)
        yield* onEnded
        yield* Deferred.done(result, exit)
        yield* Deferred.succeed(run.ended, undefined)
      })
    ),
    Effect.catchAll((error) =>
      error instanceof RunLost || (error instanceof RunInterrupted && error.resumes)
        ? Effect.flatMap(WorkflowInstance, Workflow.suspend)
        : new RunFailed({ run: run.id })
    ),
    Effect.asVoid,
    Effect.annotateLogs({ run: run.id, kind: spec.kind })
  )

/** Executes a run in a workflow engine of its own, which ends with it. */
export const executeRun = <A, I, E extends { readonly message: string }>(
  spec: RunSpec<A, I>,
  program: Effect.Effect<A, E, WorkflowEngine | WorkflowInstance>,
  execution: Execution<A, E>
): Effect.Effect<void, never, Locks> =>
  Effect.scoped(Effect.gen(function*() {
    const locks = yield* Locks
    const { run } = execution
    const engine = Context.get(yield* Layer.build(activityEngine(run.activities)), WorkflowEngine)
    const workflow = runWorkflow(spec.kind)
    yield* engine.register(workflow, () => executeWorkflow(spec, program, locks, execution))
    yield* engine.execute(workflow, { executionId: run.id, payload: { run: run.id }, discard: true }).pipe(Effect.orDie)
    yield* Deferred.await(run.ended)
  }))
