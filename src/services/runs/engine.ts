import * as Workflow from "@effect/workflow/Workflow"
import { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import {
  Array,
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  Either,
  FiberSet,
  Layer,
  Option,
  Ref,
  Schema,
  type Scope,
  Stream
} from "effect"
import { TooManyRuns } from "../../schema/basics.ts"
import {
  isEnded,
  type Run,
  RunEnded,
  RunInterrupted,
  RunLost,
  RunNotFound,
  ServiceStopping
} from "../../schema/runs.ts"
import { makeConcurrencyLimiter, runLimit } from "../limits.ts"
import { type FileLocked, Locks } from "../locks/Locks.ts"
import { isSameJson, scrubJson } from "../masking.ts"
import { secretsInUse, Settings } from "../settings/Settings.ts"
import { replayEvents } from "./events.ts"
import {
  cancelLiveRun,
  describeEnd,
  drainRuns,
  drainTimeout,
  findSnapshot,
  type LiveRun,
  makeLiveRun,
  makeQueueWaits,
  type QueueWaits,
  type RunStart
} from "./liveRun.ts"
import { awaitRecovery, cancelPeerRun, closeRun, makePeers, type Peers, watchPeerRun } from "./peers.ts"
import {
  makeRunIds,
  type RecoverRun,
  type ResumeRun,
  type RunFailure,
  RunRequest,
  Runs,
  type RunSpec,
  type StartedRun
} from "./Runs.ts"
import { activityEngine, findCurrentStep, RunFailed, runWorkflow, Steps, untilOwnershipLost } from "./Steps.ts"
import { idempotencyPeriod, recordRequest, RunHistory, RunOwnership, type RunStore, type StoredRun } from "./store.ts"
import { makeRunWriter, type RunWriter } from "./writer.ts"

/** State that starting, recovering and reading runs share. */
interface Engine {
  readonly store: RunStore
  readonly locks: Locks["Type"]
  readonly settings: Settings["Type"]
  readonly writer: RunWriter
  readonly peers: Peers
  readonly waits: QueueWaits
  /** Runs that this process executes, by id. */
  readonly live: Map<string, LiveRun>
  /** Runs that are being inserted, by id; each effect waits until that is complete. */
  readonly starting: Map<string, Effect.Effect<void>>
  /** Ids of runs whose start failed; their callers received an error. */
  readonly rejected: Set<string>
  readonly fibers: FiberSet.FiberSet<unknown, unknown>
  readonly isStopping: Ref.Ref<boolean>
  /** Completes when the runs of an earlier process have been recovered. */
  readonly recovered: Deferred.Deferred<void>
}

/** State of a run that this process executes, or has executed and not saved yet; newer than the stored one. */
const findHere = ({ live, writer }: Engine, id: string): Effect.Effect<Option.Option<Run>> =>
  Effect.map(
    findSnapshot(live, id),
    (snapshot) => Option.orElse(Option.map(snapshot, ({ run }) => run), () => writer.unsaved(id))
  )

/** Run that this process executes, once its insertion is complete. */
const findLiveRun = ({ live, starting }: Engine, id: string): Effect.Effect<LiveRun | undefined> =>
  Effect.map(starting.get(id) ?? Effect.void, () => live.get(id))

/**
 * Reports whether this process is responsible for a run that is unfinished in the store: it inserts or executes the
 * run, or has yet to save its end.
 */
const isHere = ({ live, starting, writer }: Engine, id: string): boolean =>
  live.has(id) || starting.has(id) || writer.isPending(id)

/** Makes an engine that drains its runs before the scope closes. */
const makeEngine = (
  drainTimeout: Duration.DurationInput
): Effect.Effect<Engine, never, Locks | RunHistory | RunOwnership | Settings | Scope.Scope> =>
  Effect.gen(function*() {
    const store = { history: yield* RunHistory, ownership: yield* RunOwnership }
    const live = new Map<string, LiveRun>()
    const writer = yield* makeRunWriter(
      store,
      (id) => findSnapshot(live, id),
      (id) => live.get(id)?.abandon ?? Effect.void
    )
    const waits = yield* makeQueueWaits(store.ownership, writer, live)
    const refreshWaits = Effect.suspend(() => waits.refresh([...live.values()].map(({ queue }) => queue)))
    const peers = yield* makePeers(store.ownership, live, cancelLiveRun, refreshWaits)
    const isStopping = yield* Ref.make(false)
    const fibers = yield* FiberSet.make<unknown, unknown>()
    // Registered after the set, so that it runs before the set interrupts the remaining runs.
    yield* Effect.addFinalizer(() =>
      Ref.set(isStopping, true).pipe(
        Effect.zipRight(drainRuns({ live, fibers, flush: writer.flush }, drainTimeout)),
        Effect.zipRight(peers.release)
      )
    )
    return {
      store,
      locks: yield* Locks,
      settings: yield* Settings,
      writer,
      peers,
      waits,
      live,
      starting: new Map<string, Effect.Effect<void>>(),
      rejected: new Set<string>(),
      fibers,
      isStopping,
      recovered: yield* Deferred.make<void>()
    }
  })

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
const executeRun = <A, I, E extends { readonly message: string }>(
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
const launchRun = <A, I, E extends { readonly message: string }, R>(
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

/** Makes the queued run of the current request. */
const newRun = <A, I>(spec: RunSpec<A, I>, id: string): Effect.Effect<StoredRun, never, Settings> =>
  Effect.gen(function*() {
    const { idempotency, parent, requestedBy } = yield* RunRequest
    const requestedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const asked = yield* recordRequest(spec.request)
    // A request that contains a secret is not stored: no other process can resume such a run.
    const request = isSameJson(asked, scrubJson(asked, yield* secretsInUse)) ? asked : null
    return {
      run: {
        id,
        kind: spec.kind,
        subject: spec.subject,
        state: "queued",
        requestedBy,
        ...parent === undefined ? {} : { parent },
        requestedAt,
        startedAt: null,
        endedAt: null,
        steps: [],
        result: null,
        error: null
      },
      request,
      workflow: runWorkflow(spec.kind).name,
      queue: spec.key.name,
      idempotency,
      attempt: 1
    }
  })

/** Makes `Runs.start`, with its limit and the ids that it gives. */
const makeStartRun = (engine: Engine): Effect.Effect<Runs["Type"]["start"]> =>
  Effect.map(makeRunIds, (nextId) => {
    const { isStopping, peers, recovered, rejected, settings, starting, store } = engine
    const limiter = makeConcurrencyLimiter(runLimit)
    return <A, I, E extends { readonly message: string }, R>(
      spec: RunSpec<A, I>,
      program: Effect.Effect<A, E, R>
    ): Effect.Effect<StartedRun<A, E>, RunFailure, Exclude<R, Steps>> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          yield* restore(store.history.ready)
          yield* peers.listen
          const behind = { queue: spec.key.name, isHere: (id: string) => isHere(engine, id), recovered }
          yield* restore(awaitRecovery(store.ownership, behind))
          if (yield* Ref.get(isStopping)) return yield* new ServiceStopping()
          const request = yield* RunRequest
          const stored = yield* Effect.provideService(newRun(spec, yield* nextId), Settings, settings)
          const { id, requestedBy } = stored.run
          // The run that it belongs to has its part of the limit, and must not wait for another one.
          const release = request.parent === undefined
            ? yield* Effect.mapError(limiter.take(requestedBy.name), (full) => new TooManyRuns(full))
            : Effect.void
          const inserted = yield* Deferred.make<void>()
          const launched = yield* Effect.gen(function*() {
            starting.set(id, Deferred.await(inserted))
            const earlier = yield* store.history.insert(stored)
            if (Option.isSome(earlier)) return Either.left(earlier.value)
            const start = { run: stored.run, attempt: stored.attempt, stepResults: [] }
            return Either.right(yield* launchRun(engine, spec, program, start, release))
          }).pipe(
            Effect.onError(() => Effect.zipRight(Effect.sync(() => rejected.add(id)), release)),
            Effect.ensuring(Effect.suspend(() => {
              starting.delete(id)
              return Deferred.succeed(inserted, undefined)
            }))
          )
          if (Either.isLeft(launched)) {
            yield* release
            yield* request.isUsed(launched.left)
            return yield* restore(Effect.never)
          }
          yield* request.started(launched.right.run)
          return launched.right
        })
      )
  })

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
const makeRecoverUnowned = (engine: Engine): Effect.Effect<Runs["Type"]["recover"]> =>
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

const cancelTimeout = Duration.seconds(2)

/** Makes the operations of `Runs` on runs that exist, whichever process executes them. */
const makeReadRuns = (
  engine: Engine
): Pick<Runs["Type"], "get" | "list" | "await" | "events" | "cancel"> => {
  const { peers, store } = engine
  const { history, ownership } = store

  const get: Runs["Type"]["get"] = (id) =>
    Effect.flatMap(
      findHere(engine, id),
      Option.match({
        onSome: Effect.succeed,
        onNone: () => Effect.flatMap(history.find(id), Effect.mapError(() => new RunNotFound({ id })))
      })
    )
  const watch = (id: string, after: Option.Option<number>) =>
    Effect.as(peers.listen, watchPeerRun(history, id, after, peers.changesOf(id)))
  const awaitPeer = (id: string) => Effect.flatMap(watch(id, Option.none()), Stream.runDrain)

  return {
    get,
    list: (query) =>
      Effect.flatMap(history.list(query), ({ next, runs }) =>
        Effect.map(
          Effect.forEach(runs, (run) => Effect.map(findHere(engine, run.id), Option.getOrElse(() => run))),
          (runs) => ({ runs, next })
        )),
    await: (id) =>
      Effect.gen(function*() {
        const run = yield* findLiveRun(engine, id)
        if (run !== undefined) yield* Deferred.await(run.ended)
        const now = yield* get(id)
        if (isEnded(now.state) || !(yield* ownership.isShared)) return now
        yield* awaitPeer(id)
        return yield* get(id)
      }),
    events: (id, after) =>
      Effect.gen(function*() {
        const run = yield* findLiveRun(engine, id)
        if (run !== undefined) return run.log.watch(after, run.now)
        const now = yield* get(id)
        if (!isEnded(now.state) && (yield* ownership.isShared)) return yield* watch(id, after)
        return yield* replayEvents(history, now, after)
      }),
    cancel: (id) =>
      Effect.gen(function*() {
        const run = yield* findLiveRun(engine, id)
        const now = yield* get(id)
        if (isEnded(now.state)) return yield* new RunEnded({ id, kind: now.kind, state: now.state })
        if (run === undefined) {
          yield* cancelPeerRun(store, now, {
            isHere: () => isHere(engine, id),
            ended: Effect.timeoutOption(awaitPeer(id), cancelTimeout)
          })
        } else {
          yield* cancelLiveRun(run)
          yield* Effect.timeoutOption(Deferred.await(run.ended), cancelTimeout)
        }
        return yield* get(id).pipe(Effect.catchTag("RunNotFound", () => Effect.succeed(now)))
      })
  }
}

const keyMillis = Duration.toMillis(idempotencyPeriod)

const make = (drain: Duration.DurationInput) =>
  Effect.gen(function*() {
    const engine = yield* makeEngine(drain)
    const { store: { history, ownership }, writer } = engine
    const start = yield* makeStartRun(engine)
    return Runs.of({
      start,
      run: (spec, program) => Effect.flatMap(start(spec, program), ({ result }) => result),
      ...makeReadRuns(engine),
      recover: yield* makeRecoverUnowned(engine),
      findByKey: (key, since) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => history.findByKey(key, since ?? now - keyMillis)),
      isHere: (id) => Effect.sync(() => isHere(engine, id)),
      count: history.count,
      isShared: ownership.isShared,
      checkStore: Effect.gen(function*() {
        const size = yield* history.check
        const failure = yield* writer.failure
        return Option.isSome(failure) ? yield* failure.value : size
      })
    })
  })

/** @param drain time that a shutdown gives runs before it interrupts them, which reverts the changes that they began */
export const runsLayer = (
  drain: Duration.DurationInput
): Layer.Layer<Runs, never, Locks | RunHistory | RunOwnership | Settings> => Layer.scoped(Runs, make(drain))

export const RunsLive = runsLayer(drainTimeout)
