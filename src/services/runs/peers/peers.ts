import { Chunk, Deferred, Effect, PubSub, Queue, Ref, type Scope, Stream } from "effect"
import type { RunFence } from "../RunFence.ts"
import type { RunOwnership } from "../RunOwnership.ts"

/** A run that this process owns, as seen by the coordination with peers. */
export interface OwnedRun extends RunFence {
  /** Stores the output that is not stored yet, for peers' watchers. */
  readonly flushOutput: Effect.Effect<void>
  /** Ends the run at once, even within a step, because its ownership is lost. */
  readonly abandon: Effect.Effect<void>
}

/** Coordinates with peer processes that share the store. */
export interface Peers {
  /** Starts listening to peers; idempotent. */
  readonly listen: Effect.Effect<void>
  /** Releases the ownership of this process once it has no runs left. */
  readonly release: Effect.Effect<void>
  /** Waits until a queued run may begin. */
  readonly awaitTurn: (id: string) => Effect.Effect<void>
  /** Emits at once, and whenever the stored run may have changed. */
  readonly changesOf: (id: string) => Stream.Stream<void>
}

// Stands for all runs among the ids of changed ones.
const everyRun = ""
const flushPause = "1 second"

const hintsFor = (id: string) => (changes: Queue.Dequeue<string>) =>
  Stream.fromQueue(changes).pipe(
    Stream.filter((changed) => changed === id || changed === everyRun),
    Stream.as(undefined),
    Stream.prepend(Chunk.of(undefined))
  )

/** Grants turns to queued runs that the store lets this process claim. */
const makeTurns = (ownership: Pick<RunOwnership["Type"], "claimTurns">) => {
  const waiting = new Map<string, Deferred.Deferred<void>>()
  let losses = 0
  const grant = Effect.gen(function*() {
    if (waiting.size === 0) return
    const lossesBefore = losses
    for (const id of yield* ownership.claimTurns([...waiting.keys()])) {
      const turn = waiting.get(id)
      // Claims are repeated if ownership was lost meanwhile: by then the store shows if a peer has the run.
      if (lossesBefore !== losses || turn === undefined) continue
      waiting.delete(id)
      yield* Deferred.succeed(turn, undefined)
    }
  }).pipe(Effect.ignore)
  return {
    grant,
    isWaiting: (id: string) => waiting.has(id),
    /** Invalidates the claims in progress. */
    voidClaims: () => {
      losses += 1
    },
    awaitTurn: (id: string) =>
      Effect.gen(function*() {
        const turn = yield* Deferred.make<void>()
        yield* Effect.acquireUseRelease(
          Effect.sync(() => waiting.set(id, turn)),
          () => Effect.zipRight(grant, Deferred.await(turn)),
          () => Effect.sync(() => waiting.delete(id))
        )
      })
  }
}

/**
 * @param owned runs that this process owns
 * @param cancel cancels one of them
 * @param refreshWaits updates the waits of queued runs in the background
 */
export const makePeers = <Owned extends OwnedRun>(
  ownership: RunOwnership["Type"],
  owned: ReadonlyMap<string, Owned>,
  cancel: (run: Owned) => Effect.Effect<void>,
  refreshWaits: Effect.Effect<void>
): Effect.Effect<Peers, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const isListening = yield* Ref.make(false)
    const turns = makeTurns(ownership)
    const wakes = yield* Queue.sliding<void>(1)
    const changes = yield* PubSub.sliding<string>(256)
    // Queued runs keep waiting: they have not begun anything that a peer would repeat.
    const abandonAll = Effect.suspend(() => {
      turns.voidClaims()
      const begun = [...owned.values()].filter(({ id }) => !turns.isWaiting(id))
      return Effect.forEach(begun, ({ abandon }) => abandon, { discard: true })
    })
    const followPeers = Effect.gen(function*() {
      if (owned.size === 0) return
      const { cancelled, takenOver } = yield* ownership.peerActions([...owned.values()])
      const runsOf = (ids: ReadonlyArray<string>) => ids.flatMap((id) => owned.get(id) ?? [])
      yield* Effect.forEach(runsOf(takenOver), ({ abandon }) => abandon, { discard: true })
      yield* Effect.forEach(runsOf(cancelled), cancel, { discard: true })
    }).pipe(Effect.ignore)

    const receive = Stream.runForEach(ownership.changes, (change) => {
      if (change.what === "lost") return abandonAll
      const publish = PubSub.publish(changes, "id" in change ? change.id : everyRun)
      return change.what === "data" ? publish : Effect.zipRight(publish, Queue.offer(wakes, undefined))
    })
    const look = Effect.all([Queue.take(wakes), turns.grant, followPeers, refreshWaits], { discard: true })
    const flushAll = Effect.suspend(() =>
      Effect.forEach([...owned.values()], (run) => run.flushOutput, { discard: true })
    )
    const loops = Effect.forEach(
      [receive, Effect.forever(look), Effect.forever(Effect.zipRight(Effect.sleep(flushPause), flushAll))],
      (loop) => Effect.forkIn(loop, scope),
      { discard: true }
    )

    return {
      listen: yield* Effect.once(Effect.interruptible(Effect.zipRight(Ref.set(isListening, true), loops))),
      // A store that was never used is not opened for this.
      release: Effect.ignore(
        Effect.whenEffect(
          ownership.release,
          Effect.map(Ref.get(isListening), (listening) => listening && owned.size === 0)
        )
      ),
      awaitTurn: turns.awaitTurn,
      changesOf: (id) => Stream.unwrapScoped(Effect.map(PubSub.subscribe(changes), hintsFor(id)))
    }
  })
