import { Deferred, type Duration, Effect, FiberSet, Option, Ref, type Scope } from "effect"
import type { Run } from "../../../schema/runs/Run.ts"
import { RunCancelled } from "../../../schema/runs/runFailures.ts"
import { Locks } from "../../locks/Locks.ts"
import { Settings } from "../../settings/Settings.ts"
import { findCurrentStep } from "../findCurrentStep.ts"
import { makePeers, type Peers } from "../peers/peers.ts"
import { RunHistory } from "../RunHistory.ts"
import { RunOwnership } from "../RunOwnership.ts"
import type { RunStore } from "../RunStore.ts"
import { drainRuns } from "./drainRuns.ts"
import type { LiveRun } from "./liveRun.ts"
import { makeQueueWaits, type QueueWaits } from "./queueWaits.ts"
import { makeRunWriter, type RunSnapshot, type RunWriter } from "./runWriter.ts"

/** State that starting, recovering and reading runs share. */
export interface Engine {
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

/** Cancels a run of this process at its next safe point. */
export const cancelLiveRun = ({ now, stop }: LiveRun): Effect.Effect<boolean> =>
  Effect.flatMap(now, (run) => Deferred.fail(stop, new RunCancelled({ kind: run.kind, step: findCurrentStep(run) })))

/** Current state of a run that this process executes. */
const snapshotOf = (live: ReadonlyMap<string, LiveRun>, id: string): Effect.Effect<Option.Option<RunSnapshot>> =>
  Effect.suspend(() =>
    Effect.transposeOption(Option.map(
      Option.fromNullable(live.get(id)),
      ({ attempt, now }) => Effect.map(now, (run) => ({ run, attempt }))
    ))
  )

/** State of a run that this process executes, or has executed and not saved yet; newer than the stored one. */
export const findHere = ({ live, writer }: Engine, id: string): Effect.Effect<Option.Option<Run>> =>
  Effect.map(
    snapshotOf(live, id),
    (snapshot) => Option.orElse(Option.map(snapshot, ({ run }) => run), () => writer.unsaved(id))
  )

/** Run that this process executes, once its insertion is complete. */
export const findLiveRun = ({ live, starting }: Engine, id: string): Effect.Effect<LiveRun | undefined> =>
  Effect.map(starting.get(id) ?? Effect.void, () => live.get(id))

/**
 * Reports whether this process is responsible for a run that is unfinished in the store: it inserts or executes the
 * run, or has yet to save its end.
 */
export const isHere = ({ live, starting, writer }: Engine, id: string): boolean =>
  live.has(id) || starting.has(id) || writer.isPending(id)

/** Makes an engine that drains its runs before the scope closes. */
export const makeEngine = (
  drainTimeout: Duration.DurationInput
): Effect.Effect<Engine, never, Locks | RunHistory | RunOwnership | Settings | Scope.Scope> =>
  Effect.gen(function*() {
    const store = { history: yield* RunHistory, ownership: yield* RunOwnership }
    const live = new Map<string, LiveRun>()
    const writer = yield* makeRunWriter(
      store,
      (id) => snapshotOf(live, id),
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
