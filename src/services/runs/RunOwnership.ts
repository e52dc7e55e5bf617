import { Context, type Effect, type Option, type Stream } from "effect"
import type { Run } from "../../schema/runs/Run.ts"
import type { RunStoreUnavailable } from "../../schema/runs/runFailures.ts"
import type { RunFence, RunTakenOver } from "./RunFence.ts"
import type { StoredRun } from "./StoredRun.ts"

/**
 * Hint that a peer may have changed the state, the data or the cancellation of a run. `any` requests a check of all
 * runs; `lost` means that the lease is at risk, and this process must stop all its runs.
 */
export type RunChange =
  | { readonly what: "state" | "data" | "cancel"; readonly id: string }
  | { readonly what: "any" | "lost" }

/** A step that was begun, and its result once it has ended. */
export interface StepResult {
  readonly step: string
  readonly result: Option.Option<unknown>
}

/** Ids of owned runs that a peer has cancelled or taken over. */
export interface PeerActions {
  readonly cancelled: ReadonlyArray<string>
  readonly takenOver: ReadonlyArray<string>
}

type Stored<A> = Effect.Effect<A, RunStoreUnavailable>
type Fenced = Effect.Effect<void, RunStoreUnavailable | RunTakenOver>

/**
 * Decides which process executes a run, and records the steps that the owner has completed. The layer itself renews the
 * lease by heartbeat, and publishes the change `lost` when the lease is lost.
 */
export class RunOwnership extends Context.Tag("berth/RunOwnership")<RunOwnership, {
  /** Reports whether peer processes execute runs of the same store. */
  readonly isShared: Stored<boolean>
  /** Unfinished runs without a living owner, and this process's own, oldest first; without those in `except`. */
  readonly unowned: (except: ReadonlyArray<string>) => Stored<ReadonlyArray<StoredRun>>
  /** Takes a run over and returns the new attempt; none while its owner is alive. */
  readonly takeOver: (fence: RunFence) => Stored<Option.Option<number>>
  /** Claims the queued runs that are first in their queue, and returns their ids. */
  readonly claimTurns: (ids: ReadonlyArray<string>) => Stored<ReadonlyArray<string>>
  /** Oldest unfinished run of each of these queues: all others of its queue wait for it. */
  readonly heads: (queues: ReadonlyArray<string>) => Stored<ReadonlyMap<string, Run>>
  /** Asks the owner of a run to cancel it. */
  readonly requestCancel: (id: string) => Stored<void>
  readonly peerActions: (owned: ReadonlyArray<RunFence>) => Stored<PeerActions>
  /** Releases all runs of this process: peers take them over at once. */
  readonly release: Stored<void>
  /** Changes made by peers; ends at once if there are no peers. */
  readonly changes: Stream.Stream<RunChange>
  readonly stepResults: (id: string) => Stored<ReadonlyArray<StepResult>>
  readonly beginStep: (fence: RunFence, step: string) => Fenced
  readonly completeStep: (fence: RunFence, step: string, result: unknown) => Fenced
}>() {}
