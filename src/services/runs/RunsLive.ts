import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import { Clock, Context, Deferred, Duration, Effect, FiberSet, Layer, Option, Ref, Stream } from "effect"
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
import { type FileLocked, Locks } from "../locks/Locks.ts"
import { sameJson, scrubbedJson } from "../secrets/scrubbedJson.ts"
import { secretsInUse } from "../secrets/secretsInUse.ts"
import { Settings } from "../settings/Settings.ts"
import { carryOut } from "./carryOut.ts"
import { stepUnderWay } from "./describeEnd.ts"
import { type LiveRun, makeLiveRun, type RunStart } from "./liveRun.ts"
import { makeRunIds } from "./runId.ts"
import { RunRequest } from "./RunRequest.ts"
import { type GoOn, Runs, type RunSpec, type StartedRun } from "./Runs.ts"
import { RunStore } from "./RunStore.ts"
import { runWorkflow } from "./runWorkflow.ts"
import { makeRunWriter } from "./runWriter.ts"
import { Steps } from "./Steps.ts"

const keyMillis = Duration.toMillis("24 hours")
const cancelTimeout = Duration.seconds(2)
// What a step may take that cannot be cut off any more when the drain time is over.
const shutdownTimeout = Duration.seconds(3)

const make = (drain: Duration.DurationInput) =>
  Effect.gen(function*() {
    const locks = yield* Locks
    const store = yield* RunStore
    const settings = yield* Settings
    const secrets = Effect.provideService(secretsInUse, Settings, settings)
    const nextId = yield* makeRunIds
    const isStopping = yield* Ref.make(false)
    const live = new Map<string, LiveRun>()
    const liveNow = (id: string): Effect.Effect<Option.Option<Run>> =>
      Effect.suspend(() => Effect.transposeOption(Option.map(Option.fromNullable(live.get(id)), ({ now }) => now)))
    const writer = yield* makeRunWriter(store, liveNow)
    const fibers = yield* FiberSet.make<unknown, unknown>()
    const resuming = new Set<string>()
    const goingOn = new Set<string>()

    const interrupt = (run: LiveRun) =>
      Effect.flatMap(run.now, (now) =>
        Deferred.fail(
          run.stop,
          new RunInterrupted({ kind: now.kind, step: stepUnderWay(now), resumes: goingOn.has(run.id) })
        ))
    const sayAwaited = (run: LiveRun) =>
      Effect.flatMap(run.now, ({ kind, subject }) => {
        const what = subject.appName ?? subject.projectPath ?? run.id
        return Effect.logInfo(`Waiting for the ${kind} of ${what} to finish. Ctrl-C once more stops at once`)
      })
    // Registered after the set, so it runs before the set interrupts what is left.
    yield* Effect.addFinalizer(() =>
      Effect.gen(function*() {
        yield* Ref.set(isStopping, true)
        const awaited = [...live.values()].filter(({ id }) => !resuming.has(id))
        yield* Effect.forEach(awaited, sayAwaited, { discard: true })
        yield* Effect.forEach([...live.values()].filter(({ id }) => resuming.has(id)), interrupt, { discard: true })
        const drained = yield* FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(drain))
        if (Option.isNone(drained)) {
          yield* Effect.forEach([...live.values()], interrupt, { discard: true })
          yield* FiberSet.awaitEmpty(fibers).pipe(
            Effect.interruptible,
            Effect.disconnect,
            Effect.timeoutOption(shutdownTimeout)
          )
        }
        yield* Effect.forEach([...live.values()], ({ log }) => log.close, { discard: true })
        yield* writer.flush
      })
    )

    const launch = <A, I, E extends { readonly message: string }, R>(
      spec: RunSpec<A, I>,
      program: Effect.Effect<A, E, R>,
      start: RunStart
    ) =>
      Effect.gen(function*() {
        const run = yield* Effect.provideService(makeLiveRun(start, writer), Settings, settings)
        const context = yield* Effect.context<Exclude<R, Steps>>()
        const result = yield* Deferred.make<A, E | RunFailure | FileLocked>()
        live.set(run.id, run)
        if (spec.afterRestart === "resume") resuming.add(run.id)
        if (spec.afterRestart !== "give up") goingOn.add(run.id)
        const own = Effect.mapInputContext(
          Effect.provideServiceEffect(program, Steps, run.steps),
          (workflow: Context.Context<WorkflowEngine | WorkflowInstance>) => Context.merge(context, workflow)
        )
        const ended = Effect.sync(() => {
          live.delete(run.id)
          resuming.delete(run.id)
          goingOn.delete(run.id)
        })
        const carriedOut = carryOut(spec, own, { run, result, ended })
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
          if (yield* Ref.get(isStopping)) return yield* new ServiceStopping()
          const asked = yield* RunRequest
          const requestedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
          const run: Run = {
            id: yield* nextId,
            kind: spec.kind,
            subject: spec.subject,
            state: "queued",
            requestedBy: asked.requestedBy,
            requestedAt,
            startedAt: null,
            endedAt: null,
            steps: [],
            result: null,
            error: null
          }
          // What holds a secret is not kept: another process cannot go on with such a run.
          const request = sameJson(spec.request, scrubbedJson(spec.request, yield* secrets)) ? spec.request : null
          yield* store.insert({
            run,
            request,
            workflow: runWorkflow(spec.kind).name,
            idempotency: asked.idempotency,
            attempt: 1
          })
          const started = yield* launch(spec, program, { run, attempt: 1, kept: [] })
          yield* asked.started(run)
          return started satisfies StartedRun<A, unknown>
        })
      )

    const get = (id: string) =>
      Effect.flatMap(liveNow(id), (run) =>
        Option.isSome(run)
          ? Effect.succeed(run.value)
          : Effect.flatMap(store.find(id), Effect.mapError(() => new RunNotFound({ id }))))

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
        Effect.suspend(() => {
          const run = live.get(id)
          return Effect.zipRight(run === undefined ? Effect.void : Deferred.await(run.ended), get(id))
        }),
      events: (id, after) =>
        Effect.gen(function*() {
          const run = live.get(id)
          if (run !== undefined) return run.log.watch(after, run.now)
          const ended = yield* get(id)
          const missed = Option.isSome(after) ? yield* store.events(id, after.value) : []
          const last = Math.max(Option.getOrElse(after, () => 0), missed.at(-1)?.id ?? 0)
          const data = JSON.stringify(ended)
          const whole = { id: last + 1, event: "run", data } as const
          return Stream.fromIterable(
            isEnded(ended.state)
              ? [...missed, whole, { id: last + 2, event: "end", data } as const]
              : [...missed, whole]
          )
        }),
      cancel: (id) =>
        Effect.gen(function*() {
          const now = yield* get(id)
          if (isEnded(now.state)) return yield* new RunEnded({ id, kind: now.kind, state: now.state })
          const run = live.get(id)
          const cancelled = new RunCancelled({ kind: now.kind, step: stepUnderWay(now) })
          if (run !== undefined) {
            yield* Deferred.fail(run.stop, cancelled)
            yield* Effect.timeoutOption(Deferred.await(run.ended), cancelTimeout)
          } else {
            const endedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
            const { message: error, status } = cancelled
            yield* store.save({ ...now, state: "cancelled", endedAt, error: { status, error } })
          }
          return yield* get(id).pipe(Effect.catchTag("RunNotFound", () => Effect.succeed(now)))
        }),
      findByKey: (key) => Effect.flatMap(Clock.currentTimeMillis, (now) => store.findByKey(key, now - keyMillis)),
      takeUp: (how) =>
        Effect.gen(function*() {
          const left = yield* store.unfinished
          yield* Effect.forEach(left.filter(({ run }) => !live.has(run.id)), (stored) =>
            Effect.gen(function*() {
              const { run } = stored
              const goOn: GoOn = (spec, program) =>
                Effect.gen(function*() {
                  const attempt = yield* store.beginAttempt(run.id)
                  yield* launch(spec, program, { run, attempt, kept: yield* store.steps(run.id) })
                  return true as const
                })
              // The steps of another version may not mean the same.
              const isKnown = stored.workflow === runWorkflow(run.kind).name
              if (isKnown && (yield* how(stored, goOn))) return
              const endedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
              const { message: error, status } = new RunInterrupted({
                kind: run.kind,
                step: run.startedAt === null ? null : stepUnderWay(run),
                resumes: false
              })
              yield* store.save({ ...run, state: "interrupted", endedAt, error: { status, error } })
            }).pipe(Effect.uninterruptible), { discard: true })
        }).pipe(
          Effect.catchTag("RunStoreUnavailable", ({ message }) => Effect.logWarning(message))
        ),
      trouble: writer.trouble,
      checkStore: Effect.gen(function*() {
        const bytes = yield* store.check
        const trouble = yield* writer.trouble
        return Option.isSome(trouble) ? yield* trouble.value : { store: store.name, bytes }
      })
    })
  })

/** @param drain how long shutting down waits for runs before it interrupts them, which undoes what they began */
export const runsLayer = (drain: Duration.DurationInput): Layer.Layer<Runs, never, Locks | RunStore | Settings> =>
  Layer.scoped(Runs, make(drain))

/** Runs that a shutdown gives 25 seconds to end. */
export const RunsLive = runsLayer(Duration.seconds(25))
