import {
  Context,
  Data,
  Duration,
  Effect,
  Layer,
  type Option,
  Predicate,
  Schedule,
  Schema,
  type Scope,
  Stream
} from "effect"
import { createHash } from "node:crypto"
import { NotifyMessage } from "../../schema/notify.ts"
import type {
  RequestedBy,
  Run,
  RunEvent,
  RunKind,
  RunsPage,
  RunsQuery,
  RunStoreUnavailable,
  RunSubject
} from "../../schema/runs.ts"
import { CurrentCaller } from "../access/Caller.ts"

/** A notification for one target of the settings. */
export const Notice = Schema.Struct({ target: Schema.String, message: NotifyMessage })
export interface Notice extends Schema.Schema.Type<typeof Notice> {}

/** A notification that this process is to send now. */
export interface ClaimedNotice extends Notice {
  readonly id: string
  /** Attempts to send it, this one included. */
  readonly attempts: number
  /** Time since it was added. */
  readonly age: Duration.Duration
}

/** Identifies the attempt of a claim. */
type Claim = Pick<ClaimedNotice, "attempts" | "id">

type Stored<A> = Effect.Effect<A, RunStoreUnavailable>

/**
 * Notifications that are still to be sent. They are added together with the end of their run, and outlive the process.
 */
export class Outbox extends Context.Tag("berth/Outbox")<Outbox, {
  /**
   * Claims due notifications, the oldest first. Other processes skip them until the lease expires; a claimer that has
   * not reported by then has died, and another process sends them.
   */
  readonly claim: (most: number, lease: Duration.Duration) => Stored<ReadonlyArray<ClaimedNotice>>
  /** Removes a notification that was sent, or was given up. */
  readonly remove: (id: string) => Stored<void>
  /** Makes a claimed notification due again after a pause. */
  readonly postpone: (claim: Claim, pause: Duration.Duration) => Stored<void>
  /** Time until the next one is due; none when there is none. */
  readonly nextDue: Stored<Option.Option<Duration.Duration>>
  /**
   * Records whether a condition holds; adds the notifications if it holds and did not before. Returns false when nothing
   * was added.
   */
  readonly addOnce: (condition: string, holds: boolean, notices: ReadonlyArray<Notice>) => Stored<boolean>
}>() {}

/** Body of a request as a run records it. A run that is resumed keeps the rights of its caller. */
export const recordRequest = (request: unknown): Effect.Effect<unknown> =>
  Effect.map(
    CurrentCaller,
    ({ isLocal }) => isLocal === true && Predicate.isRecord(request) ? { ...request, isLocal } : request
  )

/** Key that makes a request idempotent, and the digest of its body. */
export interface Idempotency {
  readonly key: string
  readonly digest: string
}

/** Run that the first request with an idempotency key started, and the digest of that request. */
export interface KeyedRun {
  readonly run: Run
  readonly digest: string
}

/** Period in which a request with the same idempotency key returns the run of the first one. */
export const idempotencyPeriod = Duration.hours(24)

/** The key belongs to the run of another request. */
export class IdempotencyKeyReused extends Data.TaggedError("IdempotencyKeyReused")<{ readonly runId: string }> {
  readonly status = 422
  override get message() {
    return `This Idempotency-Key was used for another request within the last ${
      Duration.toHours(idempotencyPeriod)
    } hours. Nothing was started: use a new key, or send what started run ${this.runId}`
  }
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/**
 * Digests a key and the request that it is for: nothing that a caller chose is kept as it is, and a key says nothing about
 * the runs of another caller.
 */
export const digestIdempotency = (caller: string, key: string, request: string): Idempotency => ({
  key: sha256(JSON.stringify([caller, key])),
  digest: sha256(request)
})

/** Owner's reference to a run: writes under an outdated `attempt` are refused. */
export interface RunFence {
  readonly id: string
  /** Fencing token. */
  readonly attempt: number
}

/** A write was refused: another process has taken the run over, or the run has ended. */
export class RunTakenOver extends Schema.TaggedError<RunTakenOver>()("RunTakenOver", { id: Schema.String }) {
  override get message() {
    return `The run ${this.id} was taken over by another process`
  }
}

/** A run with everything that another process needs to resume it. */
export interface StoredRun {
  readonly run: Run
  /** Body of the request, as JSON; null where it contains a secret. */
  readonly request: unknown
  readonly idempotency: Option.Option<Idempotency>
  /** Name and version of its workflow. */
  readonly workflow: string
  /** Name of its lock: runs of one queue follow each other. */
  readonly queue: string
  /** Fencing token: 1 for the process that started the run, incremented by every takeover. */
  readonly attempt: number
}

/** Name of a store as users see it, and its size. */
export interface StoreSize {
  readonly store: string
  readonly bytes: number
}

/** Number of runs that have not ended, by state. */
export interface UnfinishedRuns {
  readonly queued: number
  readonly running: number
}
type Fenced = Effect.Effect<void, RunStoreUnavailable | RunTakenOver>

/** Records runs and their output. Callers remove secrets first. */
export class RunHistory extends Context.Tag("berth/RunHistory")<RunHistory, {
  /** Waits until the store can be used. */
  readonly ready: Stored<void>
  /** Adds a run owned by this process. If its idempotency key already has a run, returns that one and adds nothing. */
  readonly insert: (stored: StoredRun) => Stored<Option.Option<KeyedRun>>
  /** Replaces a run that this process owns and that has not ended, and adds notifications in the same transaction. */
  readonly save: (run: Run, attempt: number, notices?: ReadonlyArray<Notice>) => Fenced
  readonly find: (id: string) => Stored<Option.Option<Run>>
  readonly list: (query: RunsQuery) => Stored<RunsPage>
  readonly count: Stored<UnfinishedRuns>
  /** Finds the newest run of an idempotency key that was requested at `since` or later, in milliseconds. */
  readonly findByKey: (key: string, since: number) => Stored<Option.Option<KeyedRun>>
  readonly appendEvents: (fence: RunFence, events: ReadonlyArray<RunEvent>) => Fenced
  /** Stored events of a run with an id above `after`. */
  readonly events: (id: string, after: number) => Stored<ReadonlyArray<RunEvent>>
  /** Tries a write that changes no data. */
  readonly check: Stored<StoreSize>
  /** Deletes ended runs requested before `before`, in milliseconds, and the oldest beyond `most`. */
  readonly purge: (before: number, most: number) => Stored<void>
}>() {}

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
interface PeerActions {
  readonly cancelled: ReadonlyArray<string>
  readonly takenOver: ReadonlyArray<string>
}

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

/** History and ownership of runs in the same database. */
export interface RunStore {
  readonly history: RunHistory["Type"]
  readonly ownership: RunOwnership["Type"]
}

/** Ports that are served by the same database. */
export interface StateStore extends RunStore {
  readonly outbox: Outbox["Type"]
}

/** Provides both ports of runs from one database. */
export const runStoreLayer = <E, R>(
  store: Effect.Effect<RunStore, E, R>
): Layer.Layer<RunHistory | RunOwnership, E, Exclude<R, Scope.Scope>> =>
  Layer.scopedContext(
    Effect.map(store, ({ history, ownership }) =>
      Context.make(RunHistory, history).pipe(Context.add(RunOwnership, ownership)))
  )

/** Provides all ports from one database. */
export const stateLayer = <E, R>(
  store: Effect.Effect<StateStore, E, R>
): Layer.Layer<Outbox | RunHistory | RunOwnership, E, Exclude<R, Scope.Scope>> =>
  Layer.scopedContext(
    Effect.map(store, ({ history, outbox, ownership }) =>
      Context.make(RunHistory, history).pipe(Context.add(RunOwnership, ownership), Context.add(Outbox, outbox)))
  )

/** A completed action to record in the history. */
export interface RunRecord {
  readonly kind: RunKind
  readonly subject: RunSubject
  readonly requestedBy: RequestedBy
  /** Its only step. */
  readonly step: { readonly name: string; readonly detail: string }
}

/** Records history entries that are not executed as runs. */
export class RunRecords extends Context.Tag("berth/RunRecords")<RunRecords, {
  /** Adds an entry that has ended. A process that does not serve clients releases the store right after. */
  readonly add: (record: RunRecord) => Effect.Effect<void, RunStoreUnavailable>
}>() {}

const reopenPause = "2 seconds"

const lazyHistory = (opening: Effect.Effect<RunHistory["Type"], RunStoreUnavailable>): RunHistory["Type"] => ({
  ready: Effect.flatMap(opening, (history) => history.ready),
  insert: (stored) => Effect.flatMap(opening, (history) => history.insert(stored)),
  save: (run, attempt, notices) => Effect.flatMap(opening, (history) => history.save(run, attempt, notices)),
  find: (id) => Effect.flatMap(opening, (history) => history.find(id)),
  list: (query) => Effect.flatMap(opening, (history) => history.list(query)),
  count: Effect.flatMap(opening, (history) => history.count),
  findByKey: (key, since) => Effect.flatMap(opening, (history) => history.findByKey(key, since)),
  appendEvents: (fence, events) => Effect.flatMap(opening, (history) => history.appendEvents(fence, events)),
  events: (id, after) => Effect.flatMap(opening, (history) => history.events(id, after)),
  check: Effect.flatMap(opening, (history) => history.check),
  purge: (before, most) => Effect.flatMap(opening, (history) => history.purge(before, most))
})

const lazyOwnership = (opening: Effect.Effect<RunOwnership["Type"], RunStoreUnavailable>): RunOwnership["Type"] => ({
  isShared: Effect.flatMap(opening, (ownership) => ownership.isShared),
  unowned: (except) => Effect.flatMap(opening, (ownership) => ownership.unowned(except)),
  takeOver: (fence) => Effect.flatMap(opening, (ownership) => ownership.takeOver(fence)),
  claimTurns: (ids) => Effect.flatMap(opening, (ownership) => ownership.claimTurns(ids)),
  heads: (queues) => Effect.flatMap(opening, (ownership) => ownership.heads(queues)),
  requestCancel: (id) => Effect.flatMap(opening, (ownership) => ownership.requestCancel(id)),
  peerActions: (owned) => Effect.flatMap(opening, (ownership) => ownership.peerActions(owned)),
  release: Effect.flatMap(opening, (ownership) => ownership.release),
  changes: Stream.unwrap(
    Effect.orDie(Effect.retry(Effect.map(opening, (ownership) => ownership.changes), Schedule.spaced(reopenPause)))
  ),
  stepResults: (id) => Effect.flatMap(opening, (ownership) => ownership.stepResults(id)),
  beginStep: (fence, step) => Effect.flatMap(opening, (ownership) => ownership.beginStep(fence, step)),
  completeStep: (fence, step, result) =>
    Effect.flatMap(opening, (ownership) => ownership.completeStep(fence, step, result))
})

const lazyOutbox = (opening: Effect.Effect<Outbox["Type"], RunStoreUnavailable>): Outbox["Type"] => ({
  claim: (most, lease) => Effect.flatMap(opening, (outbox) => outbox.claim(most, lease)),
  remove: (id) => Effect.flatMap(opening, (outbox) => outbox.remove(id)),
  postpone: (claim, pause) => Effect.flatMap(opening, (outbox) => outbox.postpone(claim, pause)),
  nextDue: Effect.flatMap(opening, (outbox) => outbox.nextDue),
  addOnce: (condition, holds, notices) => Effect.flatMap(opening, (outbox) => outbox.addOnce(condition, holds, notices))
})

/** Opens a store when any port is used; `opening` runs at each use and returns the open store. */
export const makeLazyRunStore = (opening: Effect.Effect<StateStore, RunStoreUnavailable>): StateStore => ({
  history: lazyHistory(Effect.map(opening, ({ history }) => history)),
  ownership: lazyOwnership(Effect.map(opening, ({ ownership }) => ownership)),
  outbox: lazyOutbox(Effect.map(opening, ({ outbox }) => outbox))
})
