import { Chunk, Clock, Deferred, Duration, Effect, Option, PubSub, Queue, Ref, type Scope, Stream } from "effect"
import {
  isEnded,
  type Run,
  RunCancelled,
  type RunEvent,
  type RunInterrupted,
  type RunState,
  type RunStoreUnavailable
} from "../../schema/runs.ts"
import { endRun } from "./Runs.ts"
import { findCurrentStep } from "./Steps.ts"
import type { RunFence, RunHistory, RunOwnership, RunStore } from "./store.ts"

// Limited, so that a script that recovers nothing can still start its own run.
const recoveryTimeout = Duration.seconds(5)

interface NewRun {
  readonly queue: string
  /** Reports whether this process is responsible for an unfinished run of the store. */
  readonly isHere: (id: string) => boolean
  /** Completes when this process has recovered the runs of an earlier one. */
  readonly recovered: Deferred.Deferred<void>
}

/**
 * Waits until an earlier process's unfinished run of the same queue is recovered before a new one starts: resumed
 * later, it would undo the new one. Not needed in a shared store, where every run waits for its turn.
 */
export const awaitRecovery = (
  ownership: Pick<RunOwnership["Type"], "isShared" | "unowned">,
  { isHere, queue, recovered }: NewRun
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    if ((yield* Deferred.isDone(recovered)) || (yield* ownership.isShared)) return
    const unowned = yield* ownership.unowned([])
    if (!unowned.some((each) => each.queue === queue && !isHere(each.run.id))) return
    yield* Effect.timeoutOption(Deferred.await(recovered), recoveryTimeout)
  })

/** Records the end of a run that is not resumed; does nothing once another process has taken it over. */
export const closeRun = (
  history: Pick<RunHistory["Type"], "save">,
  run: Run,
  attempt: number,
  state: RunState,
  { message: error, status }: RunInterrupted | RunCancelled
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const endedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* history.save(endRun(run, { state, endedAt, result: null, error: { status, error } }), attempt)
  }).pipe(Effect.catchTag("RunTakenOver", () => Effect.void))

/**
 * Cancels a run that this process does not execute: closes it when it has no living owner, else asks its owner.
 * @param isHere true if this process has recovered the run meanwhile
 * @param ended waits for its end, for a limited time
 */
export const cancelPeerRun = (
  { history, ownership }: RunStore,
  run: Run,
  { ended, isHere }: {
    readonly isHere: () => boolean
    readonly ended: Effect.Effect<unknown, RunStoreUnavailable>
  }
): Effect.Effect<void, RunStoreUnavailable> =>
  Effect.gen(function*() {
    const { id, kind } = run
    const unowned = (yield* ownership.unowned([])).find((each) => each.run.id === id && !isHere())
    const owned = unowned === undefined ? Option.none() : yield* ownership.takeOver({ id, attempt: unowned.attempt })
    if (Option.isSome(owned)) {
      const cancelled = new RunCancelled({ kind, step: findCurrentStep(run) })
      return yield* closeRun(history, run, owned.value, "cancelled", cancelled)
    }
    yield* ownership.requestCancel(id)
    yield* ended
  })

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

/** Position of a watcher in the events of a run. */
interface Seen {
  /** Id of the last event; none before the first look. */
  readonly cursor: Option.Option<number>
  /** The run as last seen, as JSON, with and without the progress of its steps. */
  readonly whole: string
  readonly coarse: string
}

const withoutProgress = (run: Run): Run => ({
  ...run,
  steps: run.steps.map(({ detail, endedAt, startedAt, status, step }) => ({ step, status, detail, startedAt, endedAt }))
})

const progressOf = ({ steps }: Run): ReadonlyArray<unknown> =>
  steps.flatMap(({ progress, status, step }) =>
    progress === undefined || status !== "running" ? [] : [{ step, ...progress }]
  )

/**
 * Streams the events of a run that a peer executes, from the store alone: the whole run at first and whenever it
 * changes, and its stored output. Ends with the run.
 * @param changes emits when the store is to be read again; the first element comes at once
 */
export const watchPeerRun = (
  history: Pick<RunHistory["Type"], "events" | "find">,
  id: string,
  after: Option.Option<number>,
  changes: Stream.Stream<void>
): Stream.Stream<RunEvent> => {
  const look = (seen: Seen): Effect.Effect<readonly [Seen, ReadonlyArray<RunEvent>]> =>
    Effect.gen(function*() {
      // The run is read before its output, so that all output precedes the end.
      const found = yield* history.find(id)
      if (Option.isNone(found)) return [seen, []] as const
      const run = found.value
      const printed = yield* history.events(id, Option.getOrElse(seen.cursor, () => 0))
      const cursor = printed.at(-1)?.id ?? Option.getOrElse(seen.cursor, () => 0)
      const whole = JSON.stringify(run)
      const coarse = JSON.stringify(withoutProgress(run))
      const changed: ReadonlyArray<RunEvent> = coarse !== seen.coarse
        ? [{ id: cursor, event: "run", data: whole }]
        : whole === seen.whole
        ? []
        : progressOf(run).map((data) => ({ id: cursor, event: "progress", data: JSON.stringify(data) }))
      const end: ReadonlyArray<RunEvent> = isEnded(run.state) ? [{ id: cursor, event: "end", data: whole }] : []
      // A new watcher gets the run without its earlier output.
      const missed = Option.isNone(seen.cursor) ? [] : printed
      return [{ cursor: Option.some(cursor), whole, coarse }, [...missed, ...changed, ...end]] as const
      // Reading is retried with the next change.
    }).pipe(Effect.orElseSucceed(() => [seen, []] as const))

  const start: Seen = { cursor: after, whole: "", coarse: "" }
  return changes.pipe(
    Stream.mapAccumEffect(start, look),
    Stream.flattenIterables,
    Stream.takeUntil(({ event }) => event === "end")
  )
}
