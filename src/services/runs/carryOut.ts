import * as Workflow from "@effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import { type RunFailure, RunInterrupted, RunLeft } from "../../schema/Run.ts"
import { type FileLocked, Locks } from "../locks/Locks.ts"
import { activityEngine } from "./activityEngine.ts"
import { describeEnd } from "./describeEnd.ts"
import type { LiveRun } from "./liveRun.ts"
import type { RunSpec } from "./Runs.ts"
import { RunFailed, runWorkflow } from "./runWorkflow.ts"
import { unlessLeft } from "./Steps.ts"

/** A run that is to be carried out, and who hears of its end. */
interface Outcome<A, E> {
  readonly run: LiveRun
  readonly result: Deferred.Deferred<A, E | RunFailure | FileLocked>
  /** Waits until no earlier run of its queue is left, in whichever process. */
  readonly turn: Effect.Effect<void>
  /** Executed when its end is recorded, before anybody hears of it. */
  readonly ended: Effect.Effect<void>
}

/** The workflow that a run is: its program, with its end recorded. */
const execute = <A, I, E extends { readonly message: string }>(
  spec: RunSpec<A, I>,
  program: Effect.Effect<A, E, WorkflowEngine | WorkflowInstance>,
  locks: Locks["Type"],
  { ended, result, run, turn }: Outcome<A, E>
) =>
  Effect.zipRight(turn, locks.withLock(spec.key)(Effect.zipRight(run.begin, program))).pipe(
    unlessLeft(run.isLeft),
    Effect.raceFirst(Deferred.await(run.stop)),
    Effect.interruptible,
    Effect.onExit((exit) =>
      Effect.gen(function*() {
        const { outcome, state } = describeEnd(exit, Schema.encodeSync(spec.result), yield* run.now)
        yield* run.end(state, outcome)
        yield* ended
        yield* Deferred.done(result, exit)
        yield* Deferred.succeed(run.ended, undefined)
      })
    ),
    Effect.catchAll((error) =>
      error instanceof RunLeft || (error instanceof RunInterrupted && error.resumes)
        ? Effect.flatMap(WorkflowInstance, Workflow.suspend)
        : new RunFailed({ run: run.id })
    ),
    Effect.asVoid,
    Effect.annotateLogs({ run: run.id, kind: spec.kind })
  )

/** Carries a run out, with an engine of its own that goes with it. */
export const carryOut = <A, I, E extends { readonly message: string }>(
  spec: RunSpec<A, I>,
  program: Effect.Effect<A, E, WorkflowEngine | WorkflowInstance>,
  outcome: Outcome<A, E>
): Effect.Effect<void, never, Locks> =>
  Effect.scoped(Effect.gen(function*() {
    const locks = yield* Locks
    const { run } = outcome
    const engine = Context.get(yield* Layer.build(activityEngine(run.activities)), WorkflowEngine)
    const workflow = runWorkflow(spec.kind)
    yield* engine.register(workflow, () => execute(spec, program, locks, outcome))
    yield* engine.execute(workflow, { executionId: run.id, payload: { run: run.id }, discard: true }).pipe(Effect.orDie)
    yield* Deferred.await(run.ended)
  }))
