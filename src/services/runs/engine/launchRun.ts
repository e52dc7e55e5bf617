import { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { Context, Deferred, Effect, FiberSet } from "effect"
import type { RunFailure } from "../../../schema/runs/runFailures.ts"
import { type FileLocked, Locks } from "../../locks/Locks.ts"
import { Settings } from "../../settings/Settings.ts"
import type { RunSpec, StartedRun } from "../Runs.ts"
import { Steps } from "../Steps.ts"
import type { Engine } from "./Engine.ts"
import { executeRun } from "./executeRun.ts"
import { type LiveRun, makeLiveRun, type RunStart } from "./liveRun.ts"

/** Span of a run, annotated with its final state: a failed run does not fail its execution. */
const asSpan = <E, R>(
  { kind }: Pick<RunSpec<unknown, unknown>, "kind">,
  run: LiveRun,
  execution: Effect.Effect<void, E, R>
) =>
  execution.pipe(
    Effect.ensuring(Effect.flatMap(run.now, ({ state }) => Effect.annotateCurrentSpan("run.end", state))),
    Effect.withSpan(`run.${kind}`, { attributes: { "run.id": run.id, "run.kind": kind } })
  )

/** Removes the workflow of the parent run from the context: a run that it starts is a workflow of its own. */
const outsideWorkflow = (context: Context.Context<never>): Context.Context<never> =>
  Context.unsafeMake(
    new Map([...context.unsafeMap].filter(([key]) => key !== WorkflowEngine.key && key !== WorkflowInstance.key))
  )

/**
 * Executes a stored run in the background.
 * @param release returns its part of the limit when it has ended
 */
export const launchRun = <A, I, E extends { readonly message: string }, R>(
  { fibers, live, locks, peers, settings, waits, writer }: Engine,
  spec: RunSpec<A, I>,
  program: Effect.Effect<A, E, R>,
  start: RunStart,
  release: Effect.Effect<void> = Effect.void
): Effect.Effect<StartedRun<A, E>, never, Exclude<R, Steps>> =>
  Effect.gen(function*() {
    const run = yield* Effect.provideService(makeLiveRun(start, spec, writer), Settings, settings)
    const context = yield* Effect.context<Exclude<R, Steps>>()
    const result = yield* Deferred.make<A, E | RunFailure | FileLocked>()
    const inContext = Effect.mapInputContext(
      Effect.provideServiceEffect(program, Steps, run.steps),
      (workflow: Context.Context<WorkflowEngine | WorkflowInstance>) => Context.merge(context, workflow)
    )
    const onEnded = Effect.all([Effect.sync(() => live.delete(run.id)), release, waits.refresh([run.queue])], {
      discard: true
    })
    // A run that was already running when it was taken over does not wait for a turn again.
    const turn = start.run.state === "running" ? Effect.void : peers.awaitTurn(run.id)
    const execution = executeRun(spec, inContext, { run, result, turn, onEnded })
    live.set(run.id, run)
    return yield* Effect.gen(function*() {
      yield* waits.update(run)
      const current = yield* run.now
      const launched = Effect.provideService(execution, Locks, locks)
      yield* FiberSet.run(fibers, asSpan(spec, run, Effect.mapInputContext(launched, outsideWorkflow)))
      return { run: current, result: Deferred.await(result) }
    }).pipe(Effect.onError(() => Effect.sync(() => live.delete(run.id))))
  })
