import { Array, Deferred, Duration, Effect, FiberSet, Option } from "effect"
import { RunInterrupted } from "../../schema/Run.ts"
import { stepUnderWay } from "./describeEnd.ts"
import type { LiveRun } from "./liveRun.ts"

// What a step may take that cannot be cut off any more when the drain time is over.
const shutdownTimeout = Duration.seconds(3)

/** The runs of a process that ends. */
export interface Draining {
  readonly live: ReadonlyMap<string, LiveRun>
  readonly fibers: FiberSet.FiberSet<unknown, unknown>
  /** Saves what waits to be saved. */
  readonly flush: Effect.Effect<void>
}

const sayAwaited = (run: LiveRun) =>
  Effect.flatMap(run.now, ({ kind, subject }) => {
    const what = subject.appName ?? subject.projectPath ?? run.id
    return Effect.logInfo(`Waiting for the ${kind} of ${what} to finish. Ctrl-C once more stops at once`)
  })

/** Lets runs end for a while, and then interrupts what is left of them. */
export const drainRuns = (
  { fibers, flush, live }: Draining,
  drain: Duration.DurationInput
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const interrupt = (run: LiveRun) =>
      Effect.flatMap(run.now, (now) =>
        Deferred.fail(
          run.stop,
          new RunInterrupted({ kind: now.kind, step: stepUnderWay(now), resumes: run.afterRestart !== "give up" })
        ))
    const all = () => [...live.values()]
    // For a run that the next start goes on with wherever it is, nobody waits.
    const [awaited, resuming] = Array.partition(all(), ({ afterRestart }) => afterRestart === "resume")
    yield* Effect.forEach(awaited, sayAwaited, { discard: true })
    yield* Effect.forEach(resuming, interrupt, { discard: true })
    const drained = yield* FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(drain))
    if (Option.isNone(drained)) {
      yield* Effect.forEach(all(), interrupt, { discard: true })
      yield* FiberSet.awaitEmpty(fibers).pipe(
        Effect.interruptible,
        Effect.disconnect,
        Effect.timeoutOption(shutdownTimeout)
      )
    }
    yield* Effect.forEach(all(), ({ log }) => log.close, { discard: true })
    yield* flush
  })
