import { Clock, Context, Deferred, Duration, Effect, Fiber, FiberSet, Layer, Option, Ref } from "effect"
import type { LockKey } from "../locks/LockKey.ts"
import { type FileLocked, Locks } from "../locks/Locks.ts"
import { makeSteps, Steps } from "./Steps.ts"

/** What kind of program a run is. */
export type RunKind = "deploy" | "build" | "pull" | "upsert"

/** A long program that is under way or has just ended. */
export interface Run {
  readonly id: string
  readonly kind: RunKind
  /** What runs of this key wait for each other for. */
  readonly key: string
  readonly startedAt: number
  readonly steps: Steps["Type"]
  /** Completes when the run has ended, with whether it succeeded. */
  readonly ended: Effect.Effect<boolean>
}

/**
 * The long programs of the service. They belong to the service and not to whoever asked for them: a caller that goes
 * away interrupts nothing, and shutting down waits for them.
 */
export class Runs extends Context.Tag("berth/Runs")<Runs, {
  /** Starts a run and waits for its result; runs with one key follow each other in the order they came. */
  readonly run: <A, E, R>(
    kind: RunKind,
    key: LockKey,
    program: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | FileLocked, Exclude<R, Steps>>
  /** The runs under way and the last hundred that ended, oldest first. */
  readonly all: Effect.Effect<ReadonlyArray<Run>>
  readonly find: (id: string) => Effect.Effect<Option.Option<Run>>
}>() {}

const remembered = 100

interface Entry {
  readonly run: Run
  readonly isOver: boolean
}

/** The entries without the oldest of those that are over, where these are too many. */
const remember = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const over = entries.filter(({ isOver }) => isOver)
  const forgotten = new Set(over.slice(0, Math.max(0, over.length - remembered)))
  return entries.filter((entry) => !forgotten.has(entry))
}

/** @param drain how long shutting down waits for runs before it interrupts them, which undoes what they began */
export const runsLayer = (drain: Duration.DurationInput): Layer.Layer<Runs, never, Locks> =>
  Layer.scoped(
    Runs,
    Effect.gen(function*() {
      const locks = yield* Locks
      const fibers = yield* FiberSet.make<unknown, unknown>()
      const entries = yield* Ref.make<ReadonlyArray<Entry>>([])
      const counter = yield* Ref.make(0)
      // Registered after the set, so it runs before the set interrupts what is left.
      yield* Effect.addFinalizer(() =>
        FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(drain))
      )

      const register = (kind: RunKind, key: LockKey, ended: Deferred.Deferred<boolean>) =>
        Effect.gen(function*() {
          const startedAt = yield* Clock.currentTimeMillis
          const number = yield* Ref.updateAndGet(counter, (n) => n + 1)
          const steps = yield* makeSteps
          const run: Run = {
            id: `${startedAt.toString(36)}-${number}`,
            kind,
            key: key.name,
            startedAt,
            steps,
            ended: Deferred.await(ended)
          }
          yield* Ref.update(entries, (all) => [...all, { run, isOver: false }])
          return run
        })

      const end = (run: Run) =>
        Ref.update(entries, (all) => remember(all.map((entry) => entry.run === run ? { run, isOver: true } : entry)))

      const all = Effect.map(Ref.get(entries), (list) => list.map(({ run }) => run))

      return Runs.of({
        run: (kind, key, program) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.gen(function*() {
              const ended = yield* Deferred.make<boolean>()
              const run = yield* register(kind, key, ended)
              const fiber = yield* program.pipe(
                locks.withLock(key),
                Effect.provideService(Steps, run.steps),
                Effect.interruptible,
                Effect.onExit((exit) => Effect.zipRight(end(run), Deferred.succeed(ended, exit._tag === "Success"))),
                Effect.annotateLogs({ run: run.id, kind }),
                FiberSet.run(fibers)
              )
              return yield* restore(Fiber.join(fiber))
            })
          ),
        all,
        find: (id) => Effect.map(all, (runs) => Option.fromNullable(runs.find((run) => run.id === id)))
      })
    })
  )

/** Runs that a shutdown gives 25 seconds to end. */
export const RunsLive = runsLayer(Duration.seconds(25))
