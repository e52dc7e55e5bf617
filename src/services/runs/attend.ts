import { Chunk, Deferred, Effect, PubSub, Queue, Ref, Stream } from "effect"
import type { Scope } from "effect"
import type { LiveRun } from "./liveRun.ts"
import type { RunStore } from "./RunStore.ts"

/** What the processes that share a store of runs have to do with each other, as one of them sees it. */
export interface Attendance {
  /** Begins to heed what the others do, unless that was begun before. */
  readonly begin: Effect.Effect<void>
  /** Tells the others, if there may be any, that nothing of this process is under way any more. */
  readonly end: Effect.Effect<void>
  /** Waits until a run that is queued may begin. */
  readonly turn: (id: string) => Effect.Effect<void>
  /** Tells at once, and whenever something of a run may have changed in the store. */
  readonly changesOf: (id: string) => Stream.Stream<void>
}

const told = (id: string) => (changes: Queue.Dequeue<string>) =>
  Stream.fromQueue(changes).pipe(
    Stream.filter((changed) => changed === id || changed === ""),
    Stream.as(undefined),
    Stream.prepend(Chunk.of(undefined))
  )

/**
 * @param live the runs that this process carries out
 * @param cancel cancels one of them
 */
export const makeAttendance = (
  store: RunStore["Type"],
  live: ReadonlyMap<string, LiveRun>,
  cancel: (run: LiveRun) => Effect.Effect<void>
): Effect.Effect<Attendance, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const isBegun = yield* Ref.make(false)
    let losses = 0
    const waiting = new Map<string, Deferred.Deferred<void>>()
    const wakes = yield* Queue.sliding<void>(1)
    const changes = yield* PubSub.sliding<string>(256)

    // What waits for its turn does nothing that another process could do as well: it goes on waiting.
    const leaveAll = Effect.suspend(() => {
      losses += 1
      return Effect.forEach([...live.values()].filter(({ id }) => !waiting.has(id)), ({ leave }) => leave, {
        discard: true
      })
    })
    const grant = Effect.gen(function*() {
      if (waiting.size === 0) return
      const before = losses
      for (const id of yield* store.claim([...waiting.keys()])) {
        const turn = waiting.get(id)
        // What was lost meanwhile is claimed again when it is found that nobody else has it.
        if (before !== losses || turn === undefined) continue
        waiting.delete(id)
        yield* Deferred.succeed(turn, undefined)
      }
    })
    const heedOrders = Effect.gen(function*() {
      if (live.size === 0) return
      const { cancelled, taken } = yield* store.ordersFor([...live.values()])
      const those = (ids: ReadonlyArray<string>) => ids.flatMap((id) => live.get(id) ?? [])
      yield* Effect.forEach(those(taken), ({ leave }) => leave, { discard: true })
      yield* Effect.forEach(those(cancelled), cancel, { discard: true })
    })
    const look = Effect.zipRight(Effect.ignore(grant), Effect.ignore(heedOrders))
    const keepOutput = Effect.suspend(() =>
      Effect.forEach([...live.values()], (run) => run.keepOutput, { discard: true })
    )

    const hear = Stream.runForEach(store.changes, (change) => {
      if (change.what === "lost") return leaveAll
      const tell = PubSub.publish(changes, "id" in change ? change.id : "")
      if (change.what === "data") return tell
      return Effect.zipRight(tell, Queue.offer(wakes, undefined))
    })
    const begin = Effect.all([
      Effect.forkIn(hear, scope),
      Effect.forkIn(Effect.forever(Effect.zipRight(Queue.take(wakes), look)), scope),
      Effect.forkIn(Effect.forever(Effect.zipRight(Effect.sleep("1 second"), keepOutput)), scope)
    ], { discard: true })

    return {
      begin: yield* Effect.once(Effect.interruptible(Effect.zipRight(Ref.set(isBegun, true), begin))),
      // A store that was never used is not opened for this.
      end: Effect.ignore(
        Effect.whenEffect(store.release, Effect.map(Ref.get(isBegun), (begun) => begun && live.size === 0))
      ),
      turn: (id) =>
        Effect.gen(function*() {
          const mine = yield* Deferred.make<void>()
          yield* Effect.acquireUseRelease(
            Effect.sync(() => waiting.set(id, mine)),
            () => Effect.zipRight(Effect.ignore(grant), Deferred.await(mine)),
            () => Effect.sync(() => waiting.delete(id))
          )
        }),
      changesOf: (id) => Stream.unwrapScoped(Effect.map(PubSub.subscribe(changes), told(id)))
    }
  })
