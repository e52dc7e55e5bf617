import { Array, Deferred, Effect, Option, Ref } from "effect"
import { RunInterrupted } from "../../../schema/runs/runFailures.ts"
import { findCurrentStep } from "../findCurrentStep.ts"
import { closeRun } from "../peers/closeRun.ts"
import type { RecoverRun, ResumeRun, Runs } from "../Runs.ts"
import type { StoredRun } from "../StoredRun.ts"
import { runWorkflow } from "../workflow/runWorkflow.ts"
import { type Engine, isHere } from "./Engine.ts"
import { launchRun } from "./launchRun.ts"

const queuesAtOnce = 16

const unknownBuildState =
  "Its script may still be running, and the archive may be incomplete: build again once it has ended"

/** Takes one unowned run over, and resumes it or records it as interrupted. */
const recoverOne = <R>(engine: Engine, stored: StoredRun, recoverRun: RecoverRun<R>) =>
  Effect.gen(function*() {
    const { rejected, store: { history, ownership } } = engine
    const { run } = stored
    if (isHere(engine, run.id)) return
    const owned = yield* ownership.takeOver({ id: run.id, attempt: stored.attempt })
    if (Option.isNone(owned)) return
    const attempt = owned.value
    const resume: ResumeRun = (spec, program) =>
      Effect.gen(function*() {
        yield* launchRun(engine, spec, program, { run, attempt, stepResults: yield* ownership.stepResults(run.id) })
        return true as const
      })
    // The steps of another version may have another meaning.
    const canResume = stored.workflow === runWorkflow(run.kind).name && !rejected.has(run.id)
    if (canResume && (yield* recoverRun(stored, resume))) return
    const interrupted = new RunInterrupted({
      kind: run.kind,
      step: run.startedAt === null ? null : findCurrentStep(run),
      resumes: false,
      ...run.kind === "build" ? { state: unknownBuildState } : {}
    })
    yield* closeRun(history, run, attempt, "interrupted", interrupted)
  }).pipe(Effect.uninterruptible)

/** Makes `Runs.recover`. */
export const makeRecoverUnowned = (engine: Engine): Effect.Effect<Runs["Type"]["recover"]> =>
  Effect.map(Ref.make(""), (lastWarning) => {
    const { live, peers, recovered, store, writer } = engine
    const warnOnce = (message: string) =>
      Effect.unlessEffect(
        Effect.logWarning(message),
        Effect.map(Ref.getAndSet(lastWarning, message), (before) => before === message)
      )
    return (recoverRun) =>
      Effect.gen(function*() {
        yield* peers.listen
        yield* writer.flush
        const queues = Array.groupBy(yield* store.ownership.unowned([...live.keys()]), ({ queue }) => queue)
        // Runs of one queue keep their order.
        const recoverQueue = (runs: ReadonlyArray<StoredRun>) =>
          Effect.forEach(runs, (stored) => recoverOne(engine, stored, recoverRun), { discard: true })
        yield* Effect.forEach(Object.values(queues), recoverQueue, { concurrency: queuesAtOnce, discard: true })
        yield* Ref.set(lastWarning, "")
        yield* Deferred.succeed(recovered, undefined)
        return true
      }).pipe(
        Effect.catchTag("RunStoreUnavailable", ({ message }) => Effect.as(warnOnce(message), false))
      )
  })
