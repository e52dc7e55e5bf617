import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import {
  Array as Arr,
  Cause,
  Clock,
  type Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  FiberSet,
  Option,
  Predicate,
  Queue,
  Ref,
  Schema,
  type Scope
} from "effect"
import {
  computeRunVerdict,
  describeShortfall,
  isEnded,
  type Run,
  type RunAhead,
  RunCancelled,
  type RunError,
  RunInterrupted,
  RunLost,
  type RunState,
  type RunStoreUnavailable
} from "../../schema/runs.ts"
import { isSameJson, scrubJson, scrubText } from "../masking.ts"
import { secretsInUse, Settings } from "../settings/Settings.ts"
import { type EventLog, makeEventLog } from "./events.ts"
import { makeOutputLog, type OutputLog } from "./output.ts"
import type { OwnedRun } from "./peers.ts"
import { type AfterRestart, endRun, type RunSpec, withoutWait } from "./Runs.ts"
import {
  type ActivityStore,
  findCurrentStep,
  makeSteps,
  performActivity,
  type Steps,
  type StepStore,
  updateProgress
} from "./Steps.ts"
import type { RunOwnership, StepResult } from "./store.ts"
import type { RunSnapshot, RunWriter } from "./writer.ts"

/** Result or error of a run; both if the result counts as a failure. */
interface RunOutcome {
  readonly result?: unknown
  readonly error?: RunError
}

/** Final state of a run; an unfinished state if the next start, or a peer, resumes it. */
interface RunEnd {
  readonly state: RunState
  readonly outcome: RunOutcome
}

// Maximum length of each text in a stored result. Longer ones are cut at the front: the end of output is the most
// informative part.
const longestText = 128 * 1024

const bounded = (value: unknown): unknown => {
  if (Predicate.isString(value)) return value.length > longestText ? value.slice(-longestText) : value
  if (Array.isArray(value)) return value.map(bounded)
  return Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bounded(item)]))
    : value
}

const statusOf = (error: unknown): number =>
  Predicate.hasProperty(error, "status") && Predicate.isNumber(error.status) ? error.status : 500

const failed = (state: RunState, error: { readonly message: string }): RunEnd => ({
  state,
  outcome: { error: { status: statusOf(error), error: error.message } }
})

const capitalized = (text: string) => text.replace(/^./, (first) => first.toUpperCase())

/** Derives from the steps of a cancelled run how it was undone, or what was done to the stack. */
const undoneBy = ({ kind, steps, subject }: Run): { readonly undone?: string } => {
  const step = kind === "stack" ? subject.action : kind === "deploy-all" ? "cancel" : "rollback"
  const telling = steps.find((each) => each.step === step)
  if (telling === undefined || telling.status === "running" || telling.detail === "") return {}
  const isFailedUndo = kind !== "stack" && telling.status === "error"
  return {
    undone: isFailedUndo
      ? `What ran before could not be started again, so the new version is left as it is: ${telling.detail}`
      : capitalized(telling.detail)
  }
}

const defect = { message: "Internal error: see the service's log" }

/** Turns the exit of a program into the end of its run. */
export const describeEnd = <A, E extends { readonly message: string }>(
  exit: Exit.Exit<A, E>,
  encode: (result: A) => unknown,
  run: Run
): RunEnd =>
  Exit.match(exit, {
    onSuccess: (result) => {
      const encoded = encode(result)
      const outcome = { result: bounded(encoded) }
      return computeRunVerdict(run, encoded) === "done"
        ? { state: "succeeded", outcome }
        // The endpoint still returns the result.
        : { state: "failed", outcome: { ...outcome, error: { status: 200, error: describeShortfall(encoded) } } }
    },
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () =>
          Cause.isInterruptedOnly(cause)
            ? failed("interrupted", new RunInterrupted({ kind: run.kind, step: findCurrentStep(run), resumes: false }))
            : failed("failed", defect),
        onSome: (error) => {
          if (error instanceof RunCancelled) {
            return failed("cancelled", new RunCancelled({ kind: run.kind, step: error.step, ...undoneBy(run) }))
          }
          if (error instanceof RunLost) return { state: run.state, outcome: {} }
          if (!(error instanceof RunInterrupted)) return failed("failed", error)
          return error.resumes ? { state: run.state, outcome: {} } : failed("interrupted", error)
        }
      })
  })

/** Signal that stops a program at its next safe point, with a failure. */
type StopSignal = Deferred.Deferred<never, RunCancelled | RunInterrupted | RunLost>

interface LiveSteps {
  readonly activities: ActivityStore
  /** Recorder of steps for the workflow that executes the run. */
  readonly steps: Effect.Effect<Steps["Type"], never, WorkflowEngine | WorkflowInstance>
}

/** Parts of a live run that its steps write to. */
interface LiveParts {
  readonly attempt: number
  readonly start: Run
  readonly current: Ref.Ref<Run>
  readonly log: EventLog
  readonly output: OutputLog
  readonly stop: StopSignal
  /** Results of an earlier attempt. */
  readonly stepResults: ReadonlyArray<StepResult>
}

/** Records the steps of a run, in its events and in the store. */
const makeLiveSteps = (
  { attempt, current, log, output, start, stepResults, stop }: LiveParts,
  writer: RunWriter
): Effect.Effect<LiveSteps, never, Settings> =>
  Effect.map(Settings, (settings) => {
    const { id } = start
    const fence = { id, attempt }
    const results = new Map(stepResults.map(({ result, step }) => [step, result]))
    const resultOf = (step: string) => Option.flatten(Option.fromNullable(results.get(step)))

    // Replaced by the recorder below: a stalled write is reported in its step.
    let record: Steps["Type"]["record"] = () => Effect.void
    const onStalled = (step: string) => ({ message }: RunStoreUnavailable) =>
      record({ step, status: "running", detail: `waiting to be recorded: ${message}` })

    const activities: ActivityStore = {
      recall: (step) => Effect.sync(() => resultOf(step)),
      begin: (step) => writer.beginStep(fence, step, onStalled(step)),
      complete: (step, json) =>
        Effect.gen(function*() {
          // A result that contains a secret is not stored: after a restart its step is repeated.
          const secrets = yield* Effect.provideService(secretsInUse, Settings, settings)
          if (!isSameJson(json, scrubJson(json, secrets))) return
          yield* writer.completeStep(fence, step, json, onStalled(step))
        })
    }
    const keeper = (workflow: Context.Context<WorkflowEngine | WorkflowInstance>): StepStore => ({
      run: id,
      initial: start.steps,
      // The last lines of a step's program are published before its end.
      onChange: (steps) =>
        output.publish.pipe(
          Effect.zipRight(Ref.updateAndGet(current, (run) => ({ ...run, steps }))),
          Effect.flatMap((run) => log.add("run", run)),
          Effect.zipRight(writer.saveSoon(id))
        ),
      onProgress: (step, progress) =>
        Ref.update(current, (run) => ({ ...run, steps: updateProgress(run.steps, step, progress) })).pipe(
          Effect.zipRight(log.add("progress", { step, ...progress })),
          Effect.zipRight(writer.saveSoon(id))
        ),
      output: output.add,
      isCancelled: Effect.flatMap(
        Deferred.poll(stop),
        Option.match({
          onNone: () => Effect.succeed(false),
          onSome: Effect.match({ onFailure: (why) => why instanceof RunCancelled, onSuccess: () => false })
        })
      ),
      hasResult: (step, schema) =>
        Option.match(resultOf(step), {
          onNone: () => Effect.succeed(false),
          // A result of another version may not decode: such a step is repeated.
          onSome: (json) => Effect.isSuccess(Schema.decodeUnknown(schema)(json))
        }),
      perform: (step, schema, effect) => performActivity(workflow, step, schema, effect(results.has(step)))
    })
    return {
      activities,
      steps: Effect.contextWithEffect((workflow: Context.Context<WorkflowEngine | WorkflowInstance>) =>
        Effect.tap(makeSteps(keeper(workflow)), (steps) =>
          Effect.sync(() => {
            record = steps.record
          }))
      )
    }
  })

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

/** Keeps the displayed waits of queued runs up to date; unchanged while the store is unavailable. */
export interface QueueWaits {
  /** Looks up the wait of one run. */
  readonly update: (run: LiveRun) => Effect.Effect<void>
  /** Looks up the waits in these queues in the background; queues that change meanwhile share one query. */
  readonly refresh: (queues: Iterable<string>) => Effect.Effect<void>
}

const isQueued = ({ now }: LiveRun) => Effect.map(now, ({ state }) => state === "queued")

/** @param live runs that this process executes, by id */
export const makeQueueWaits = (
  { heads, isShared }: Pick<RunOwnership["Type"], "heads" | "isShared">,
  { saveSoon }: Pick<RunWriter, "saveSoon">,
  live: ReadonlyMap<string, LiveRun>
): Effect.Effect<QueueWaits, never, Scope.Scope> =>
  Effect.gen(function*() {
    const changed = new Set<string>()
    const wake = yield* Queue.sliding<void>(1)

    const updateAll = (runs: Iterable<LiveRun>) =>
      Effect.gen(function*() {
        const queued = yield* Effect.filter(runs, isQueued)
        if (queued.length === 0) return
        const found = yield* heads([...new Set(queued.map(({ queue }) => queue))])
        // Only peers read waits from the store: this process shows those in memory.
        const shared = yield* isShared
        yield* Effect.forEach(queued, (run) => {
          const head = Option.filter(Option.fromNullable(found.get(run.queue)), ({ id }) => id !== run.id)
          return Effect.flatMap(run.waitFor(head), (isNew) => Effect.when(saveSoon(run.id), () => shared && isNew))
        }, { discard: true })
      }).pipe(
        Effect.ignore,
        // Waits are only informational: a defect must neither fail a start nor end the updates.
        Effect.catchAllDefect((defect) => Effect.logError("The waits of queued runs could not be looked up", defect))
      )

    const updateChanged = Effect.suspend(() => {
      const queues = new Set(changed)
      changed.clear()
      return updateAll([...live.values()].filter(({ queue }) => queues.has(queue)))
    })
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Queue.take(wake), updateChanged)))

    return {
      update: (run) => updateAll([run]),
      refresh: (queues) =>
        Effect.suspend(() => {
          for (const queue of queues) changed.add(queue)
          return Effect.asVoid(Queue.offer(wake, undefined))
        })
    }
  })

/** Time that a shutdown gives runs to end before it interrupts them. */
export const drainTimeout = Duration.seconds(25)
// Additional time for uninterruptible steps after the drain timeout.
const interruptTimeout = Duration.seconds(3)

/** Runs of a process that is shutting down. */
interface DrainingRuns {
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
    const [awaited, resuming] = Arr.partition(all(), ({ afterRestart }) => afterRestart === "resume")
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

/** Cancels a run of this process at its next safe point. */
export const cancelLiveRun = ({ now, stop }: LiveRun): Effect.Effect<boolean> =>
  Effect.flatMap(now, (run) => Deferred.fail(stop, new RunCancelled({ kind: run.kind, step: findCurrentStep(run) })))

/** Current state of a run that this process executes. */
export const findSnapshot = (
  live: ReadonlyMap<string, LiveRun>,
  id: string
): Effect.Effect<Option.Option<RunSnapshot>> =>
  Effect.suspend(() =>
    Effect.transposeOption(Option.map(
      Option.fromNullable(live.get(id)),
      ({ attempt, now }) => Effect.map(now, (run) => ({ run, attempt }))
    ))
  )
