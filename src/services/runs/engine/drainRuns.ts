import { Array, Deferred, Duration, Effect, FiberSet, Option } from "effect"
import { RunInterrupted } from "../../../schema/runs/runFailures.ts"
import { findCurrentStep } from "../findCurrentStep.ts"
import type { LiveRun } from "./liveRun.ts"

/** Time that a shutdown gives runs to end before it interrupts them. */
export const drainTimeout = Duration.seconds(25)
// Additional time for uninterruptible steps after the drain timeout.
const interruptTimeout = Duration.seconds(3)

/** Runs of a process that is shutting down. */
export interface DrainingRuns {
  readonly live: ReadonlyMap<string, LiveRun>
  readonly fibers: FiberSet.FiberSet<unknown, unknown>
  /** Saves runs that wait to be saved. */
  readonly flush: Effect.Effect<void>
}

const logAwaited = (run: LiveRun) =>
  Effect.flatMap(run.now, ({ kind, subject }) => {
    const what = subject.appName ?? subject.projectPath ?? run.id
    return Effect.logInfo(`Waiting for the ${kind} of ${what} to finish. Ctrl-C once more stops at once`)
  })

/** Waits for runs to end, up to the timeout, and interrupts the rest. */
export const drainRuns = (
  { fibers, flush, live }: DrainingRuns,
  timeout: Duration.DurationInput
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const interrupt = (run: LiveRun) =>
      Effect.flatMap(run.now, (now) =>
        Deferred.fail(
          run.stop,
          new RunInterrupted({ kind: now.kind, step: findCurrentStep(now), resumes: run.afterRestart !== "give up" })
        ))
    const all = () => [...live.values()]
    // Resumable runs are interrupted at any step: the next start resumes them.
    const [awaited, resuming] = Array.partition(all(), ({ afterRestart }) => afterRestart === "resume")
    yield* Effect.forEach(awaited, logAwaited, { discard: true })
    yield* Effect.forEach(resuming, interrupt, { discard: true })
    const drained = yield* FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(timeout))
    if (Option.isNone(drained)) {
      yield* Effect.forEach(all(), interrupt, { discard: true })
      yield* FiberSet.awaitEmpty(fibers).pipe(
        Effect.interruptible,
        Effect.disconnect,
        Effect.timeoutOption(interruptTimeout)
      )
    }
    yield* Effect.forEach(all(), ({ log }) => log.close, { discard: true })
    yield* flush
  })
