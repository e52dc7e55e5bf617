import { Effect, Schedule, Stream } from "effect"
import type { RunStoreUnavailable } from "../../schema/runs/runFailures.ts"
import type { Outbox } from "./Outbox.ts"
import type { RunHistory } from "./RunHistory.ts"
import type { RunOwnership } from "./RunOwnership.ts"
import type { StateStore } from "./RunStore.ts"

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
  addDrift: (judged, drifts, notices) => Effect.flatMap(opening, (outbox) => outbox.addDrift(judged, drifts, notices))
})

/** Opens a store when any port is used; `opening` runs at each use and returns the open store. */
export const makeLazyRunStore = (opening: Effect.Effect<StateStore, RunStoreUnavailable>): StateStore => ({
  history: lazyHistory(Effect.map(opening, ({ history }) => history)),
  ownership: lazyOwnership(Effect.map(opening, ({ ownership }) => ownership)),
  outbox: lazyOutbox(Effect.map(opening, ({ outbox }) => outbox))
})
