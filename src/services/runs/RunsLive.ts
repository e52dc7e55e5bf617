import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { Array, Clock, Context, Deferred, Duration, Effect, FiberSet, Layer, Option, Ref, Stream } from "effect"
import { runCapacity, TooManyRuns } from "../../schema/capacity.ts"
import {
  isEnded,
  type Run,
  RunCancelled,
  RunEnded,
  type RunFailure,
  RunInterrupted,
  RunNotFound,
  ServiceStopping
} from "../../schema/Run.ts"
import { makeQuota } from "../limits/quota.ts"
import { type FileLocked, Locks } from "../locks/Locks.ts"
import { Settings } from "../settings/Settings.ts"
import { makeAttendance } from "./attend.ts"
import { cancelElsewhere } from "./cancelElsewhere.ts"
import { carryOut } from "./carryOut.ts"
import { closeRun } from "./closeRun.ts"
import { stepUnderWay } from "./describeEnd.ts"
import { drainRuns } from "./drainRuns.ts"
import { endedEvents } from "./endedEvents.ts"
import { leftFirst } from "./leftFirst.ts"
import { type LiveRun, makeLiveRun, type RunStart } from "./liveRun.ts"
import { newRun } from "./newRun.ts"
import { makeRunIds } from "./runId.ts"
import { RunRequest } from "./RunRequest.ts"
import { type GoOn, Runs, type RunSpec, type StartedRun, type TakeUp } from "./Runs.ts"
import { keyTime, RunStore, type StoredRun } from "./RunStore.ts"
import { runWorkflow } from "./runWorkflow.ts"
import { makeRunWriter } from "./runWriter.ts"
import { Steps } from "./Steps.ts"
import { watchElsewhere } from "./watchElsewhere.ts"

const keyMillis = Duration.toMillis(keyTime)
const cancelTimeout = Duration.seconds(2)
const queuesAtOnce = 16

// Nobody was there to stop it.
const orphaned = {
  state: "Its script may still be running, and the archive may be incomplete: build again once it has ended"
}

const make = (drain: Duration.DurationInput) =>
  Effect.gen(function*() {
    const locks = yield* Locks
    const store = yield* RunStore
    const settings = yield* Settings
    const nextId = yield* makeRunIds
    const isStopping = yield* Ref.make(false)
    const live = new Map<string, LiveRun>()
    const heldNow = (id: string) =>
      Effect.suspend(() =>
        Effect.transposeOption(Option.map(Option.fromNullable(live.get(id)), ({ attempt, now }) =>
          Effect.map(now, (run) => ({ run, attempt }))))
      )
    const liveNow = (id: string): Effect.Effect<Option.Option<Run>> =>
      Effect.map(
        heldNow(id),
        Option.map(({ run }) =>
          run
        )
      )
    const writer = yield* makeRunWriter(store, heldNow, (id) =>
      live.get(id)?.leave ?? Effect.void)
    const cancelHere = (run: LiveRun) =>
      Effect.flatMap(run.now, (now) =>
        Deferred.fail(run.stop, new RunCancelled({ kind: now.kind, step: stepUnderWay(now) })))
    const others = yield* makeAttendance(store, live, cancelHere)
    // Why runs could not be taken up the last time: that is said once.
    const said = yield* Ref.make("")
    // Runs that are being recorded, and those whose recording failed: whoever asked was told that none was started.
    const starting = new Set<string>()
    const refused = new Set<string>()
    const takenUp = yield* Deferred.make<void>()
    const quota = makeQuota(runCapacity)
    const fibers = yield* FiberSet.make<unknown, unknown>()

    // Registered after the set, so it runs before the set interrupts what is left.
    yield* Effect.addFinalizer(() =>
      Ref.set(isStopping, true).pipe(
        Effect.zipRight(drainRuns({ live, fibers, flush: writer.flush }, drain)),
        Effect.zipRight(others.end)
      )
    )

    // One whose end waits to be saved has ended, and one that is being recorded is on its way.
    const isHere = (id: string) =>
      live.has(id) || starting.has(id) || writer.isWaiting(id)

    /** @param release gives back what the run takes of the capacity, when it has ended */
    const launch = <A, I, E extends { readonly message: string }, R>(
      spec: RunSpec<A, I>,
      program: Effect.Effect<A, E, R>,
      start: RunStart,
      release: Effect.Effect<void> = Effect.void
    ) =>
      Effect.gen(function*() {
        const run = yield* Effect.provideService(makeLiveRun(start, spec.afterRestart, writer), Settings, settings)
        const context = yield* Effect.context<Exclude<R, Steps>>()
        const result = yield* Deferred.make<A, E | RunFailure | FileLocked>()
        live.set(run.id, run)
        const own = Effect.mapInputContext(
          Effect.provideServiceEffect(program, Steps, run.steps),
          (workflow: Context.Context<WorkflowEngine | WorkflowInstance>) =>
            Context.merge(context, workflow)
        )
        const ended = Effect.zipRight(Effect.sync(() => live.delete(run.id)), release)
        // One that ran when it was taken over has had its turn.
        const turn = start.run.state === "running" ? Effect.void : others.turn(run.id)
        const carriedOut = carryOut(spec, own, { run, result, turn, ended })
        yield* FiberSet.run(fibers, Effect.provideService(carriedOut, Locks, locks))
        return { run: start.run, result: Deferred.await(result) }
      })

    const start = <A, I, E extends { readonly message: string }, R>(
      spec: RunSpec<A, I>,
      program: Effect.Effect<A, E, R>
    ) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          yield* restore(store.ready)
          yield* others.begin
          yield* restore(leftFirst(store, { queue: spec.key.name, isHere, takenUp }))
          if (yield* Ref.get(isStopping)) {
            return yield* new ServiceStopping()
          }
          const asked = yield* RunRequest
          const stored = yield* Effect.provideService(newRun(spec, yield* nextId), Settings, settings)
          const { id, requestedBy } = stored.run
          const release = yield* Effect.mapError(quota.take(requestedBy.name), (full) => new TooManyRuns(full))
          return yield* Effect.gen(function*() {
            starting.add(id)
            const used = yield* Effect.tapError(store.insert(stored), () => Effect.sync(() => refused.add(id)))
            if (Option.isSome(used)) {
              yield* release
              yield* asked.isUsed(used.value)
              return yield* restore(Effect.never)
            }
            const started = yield* launch(spec, program, { run: stored.run, attempt: 1, kept: [] }, release)
            yield* asked.started(stored.run)
            return started satisfies StartedRun<A, unknown>
          }).pipe(Effect.tapError(() => release), Effect.ensuring(Effect.sync(() => starting.delete(id))))
        })
      )

    const get = (id: string) =>
      Effect.flatMap(liveNow(id), (run) =>
        Option.isSome(run)
          ? Effect.succeed(run.value)
          : Effect.flatMap(store.find(id), Effect.mapError(() => new RunNotFound({ id }))))

    const watch = (id: string, after: Option.Option<number>) =>
      Effect.as(others.begin, watchElsewhere(store, id, after, others.changesOf(id)))

    const takeUpOne = <R>(stored: StoredRun, how: TakeUp<R>) =>
      Effect.gen(function*() {
        const { run } = stored
        if (isHere(run.id)) return
        const taken = yield* store.take({ id: run.id, attempt: stored.attempt })
        if (Option.isNone(taken)) return
        const attempt = taken.value
        const goOn: GoOn = (spec, program) =>
          Effect.gen(function*() {
            yield* launch(spec, program, { run, attempt, kept: yield* store.steps(run.id) })
            return true as const
          })
        // The steps of another version may not mean the same.
        const isKnown = stored.workflow === runWorkflow(run.kind).name && !refused.has(run.id)
        if (isKnown && (yield* how(stored, goOn))) return
        const step = run.startedAt === null ? null : stepUnderWay(run)
        yield* closeRun(
          store,
          run,
          attempt,
          "interrupted",
          new RunInterrupted({ kind: run.kind, step, resumes: false, ...run.kind === "build" ? orphaned : {} })
        )
      }).pipe(Effect.uninterruptible)

    return Runs.of({
      start,
      run: (spec, program) => Effect.flatMap(start(spec, program), ({ result }) => result),
      get,
      list: (query) =>
        Effect.flatMap(store.list(query), ({ next, runs }) =>
          Effect.map(
            Effect.forEach(runs, (run) => Effect.map(liveNow(run.id), Option.getOrElse(() => run))),
            (runs) => ({ runs, next })
          )),
      await: (id) =>
        Effect.gen(function*() {
          const run = live.get(id)
          if (run !== undefined) yield* Deferred.await(run.ended)
          const now = yield* get(id)
          if (isEnded(now.state) || !(yield* store.isShared)) return now
          yield* Stream.runDrain(yield* watch(id, Option.none()))
          return yield* get(id)
        }),
      events: (id, after) =>
        Effect.gen(function*() {
          const run = live.get(id)
          if (run !== undefined) return run.log.watch(after, run.now)
          const now = yield* get(id)
          if (!isEnded(now.state) && (yield* store.isShared)) return yield* watch(id, after)
          return yield* endedEvents(store, now, after)
        }),
      cancel: (id) =>
        Effect.gen(function*() {
          const now = yield* get(id)
          if (isEnded(now.state)) return yield* new RunEnded({ id, kind: now.kind, state: now.state })
          const run = live.get(id)
          if (run !== undefined) {
            yield* cancelHere(run)
            yield* Effect.timeoutOption(Deferred.await(run.ended), cancelTimeout)
          } else {
            const ended = Effect.flatMap(watch(id, Option.none()), Stream.runDrain)
            yield* cancelElsewhere(store, now, Effect.timeoutOption(ended, cancelTimeout))
          }
          return yield* get(id).pipe(Effect.catchTag("RunNotFound", () => Effect.succeed(now)))
        }),
      findByKey: (key) => Effect.flatMap(Clock.currentTimeMillis, (now) => store.findByKey(key, now - keyMillis)),
      isShared: store.isShared,
      takeUp: (how) =>
        Effect.gen(function*() {
          yield* others.begin
          yield* writer.flush
          const queues = Array.groupBy(yield* store.left([...live.keys()]), ({ queue }) => queue)
          // Runs of one queue go on in their order, and queues at once: until it is taken up, a run stands still.
          const inOrder = (runs: ReadonlyArray<StoredRun>) =>
            Effect.forEach(runs, (stored) => takeUpOne(stored, how), { discard: true })
          yield* Effect.forEach(Object.values(queues), inOrder, { concurrency: queuesAtOnce, discard: true })
        }).pipe(
          Effect.zipRight(Ref.set(said, "")),
          Effect.zipRight(Deferred.succeed(takenUp, undefined)),
          Effect.as(true),
          Effect.catchTag("RunStoreUnavailable", ({ message }) =>
            Effect.unlessEffect(
              Effect.logWarning(message),
              Effect.map(Ref.getAndSet(said, message), (before) => before === message)
            ).pipe(Effect.as(false)))
        ),
      trouble: writer.trouble,
      checkStore: Effect.gen(function*() {
        const size = yield* store.check
        const trouble = yield* writer.trouble
        return Option.isSome(trouble) ? yield* trouble.value : size
      })
    })
  })

/** @param drain how long shutting down waits for runs before it interrupts them, which undoes what they began */
export const runsLayer = (drain: Duration.DurationInput): Layer.Layer<Runs, never, Locks | RunStore | Settings> =>
  Layer.scoped(Runs, make(drain))

/** Runs that a shutdown gives 25 seconds to end. */
export const RunsLive = runsLayer(Duration.seconds(25))
