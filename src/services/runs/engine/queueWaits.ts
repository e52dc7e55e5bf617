import { Effect, Option, Queue, type Scope } from "effect"
import type { RunOwnership } from "../RunOwnership.ts"
import type { LiveRun } from "./liveRun.ts"
import type { RunWriter } from "./runWriter.ts"

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
