import { Clock, Deferred, Effect, Option, Ref } from "effect"
import { isEnded, type Run, type RunAhead, type RunState } from "../../../schema/runs/Run.ts"
import { type RunCancelled, type RunInterrupted, RunLost } from "../../../schema/runs/runFailures.ts"
import { scrubJson } from "../../secrets/scrubbedJson.ts"
import { scrubText } from "../../secrets/scrubText.ts"
import { secretsInUse } from "../../secrets/secretsInUse.ts"
import { Settings } from "../../settings/Settings.ts"
import { endRun, withoutWait } from "../endRun.ts"
import { type EventLog, makeEventLog } from "../events/eventLog.ts"
import { makeOutputLog } from "../events/outputLog.ts"
import type { OwnedRun } from "../peers/peers.ts"
import type { StepResult } from "../RunOwnership.ts"
import type { AfterRestart, RunSpec } from "../Runs.ts"
import type { RunOutcome } from "./describeEnd.ts"
import { type LiveSteps, makeLiveSteps, type StopSignal } from "./liveSteps.ts"
import type { RunWriter } from "./runWriter.ts"

// Event ids of an attempt start above all ids that the previous attempt can have used.
const eventIdsPerAttempt = 1_000_000_000

/** A run that this process executes. */
export interface LiveRun extends OwnedRun, LiveSteps {
  readonly now: Effect.Effect<Run>
  readonly log: EventLog
  readonly afterRestart: AfterRestart
  readonly stop: StopSignal
  /** Is interrupted once ownership of the run is lost. */
  readonly ownershipLost: Deferred.Deferred<never>
  /** Completes when the program has ended. */
  readonly ended: Deferred.Deferred<void>
  /** Name of its lock: runs of one queue follow each other. */
  readonly queue: string
  /** Sets the run that a queued one waits for; returns true if it changed. */
  readonly waitFor: (ahead: Option.Option<RunAhead>) => Effect.Effect<boolean>
  readonly begin: Effect.Effect<void>
  readonly end: (state: RunState, outcome: RunOutcome) => Effect.Effect<void>
}

/** Initial state of an attempt; after a restart it includes the steps of the previous one. */
export interface RunStart {
  readonly run: Run
  readonly attempt: number
  readonly stepResults: ReadonlyArray<StepResult>
}

const timeNow = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

const waitOf = Option.match({
  onNone: () => ({}),
  onSome: ({ id, kind, requestedBy, subject }: RunAhead) => ({ waitsFor: { id, kind, subject, requestedBy } })
})

/** Makes the state of a run in memory, which `writer` stores. */
export const makeLiveRun = (
  { attempt, run: start, stepResults }: RunStart,
  { afterRestart, key }: Pick<RunSpec<unknown, unknown>, "afterRestart" | "key">,
  writer: RunWriter
): Effect.Effect<LiveRun, never, Settings> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const { id } = start
    const current = yield* Ref.make(start)
    const log = yield* makeEventLog((attempt - 1) * eventIdsPerAttempt)
    const output = yield* makeOutputLog(log, (events) => writer.appendEvents({ id, attempt }, events))
    const stop = yield* Deferred.make<never, RunCancelled | RunInterrupted | RunLost>()
    const ownershipLost = yield* Deferred.make<never>()
    const parts = { attempt, start, current, log, output, stop, stepResults }
    const { activities, steps } = yield* makeLiveSteps(parts, writer)
    const update = (change: (run: Run) => Run) =>
      Effect.flatMap(Ref.updateAndGet(current, change), (run) => log.add("run", run))

    return {
      id,
      attempt,
      afterRestart,
      queue: key.name,
      now: Ref.get(current),
      activities,
      steps,
      log,
      flushOutput: output.flush,
      stop,
      abandon: Effect.zipRight(
        Deferred.fail(stop, new RunLost({ id, kind: start.kind })),
        Effect.asVoid(Deferred.interrupt(ownershipLost))
      ),
      ownershipLost,
      ended: yield* Deferred.make<void>(),
      waitFor: (ahead) =>
        Effect.gen(function*() {
          const { state, waitsFor } = yield* Ref.get(current)
          if (state !== "queued" || waitsFor?.id === Option.getOrUndefined(ahead)?.id) return false
          yield* update((run) => run.state === "queued" ? { ...withoutWait(run), ...waitOf(ahead) } : run)
          return true
        }),
      begin: Effect.gen(function*() {
        const startedAt = yield* timeNow
        yield* update((run) => ({ ...withoutWait(run), state: "running", startedAt: run.startedAt ?? startedAt }))
        yield* writer.saveNow(id)
      }),
      end: (state, outcome) =>
        Effect.gen(function*() {
          const endedAt = isEnded(state) ? yield* timeNow : null
          yield* output.flush
          const secrets = yield* Effect.provideService(secretsInUse, Settings, settings)
          const result = scrubJson(outcome.result ?? null, secrets)
          const error = outcome.error === undefined
            ? null
            : { ...outcome.error, error: scrubText(outcome.error.error, secrets) }
          const end = { state, result, error }
          yield* update((run) => endedAt === null ? { ...withoutWait(run), ...end } : endRun(run, { ...end, endedAt }))
          yield* writer.saveNow(id)
          if (isEnded(state)) yield* log.add("end", yield* Ref.get(current))
          yield* log.close
        })
    } satisfies LiveRun
  })
