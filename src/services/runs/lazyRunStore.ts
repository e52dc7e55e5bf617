import { Effect, Schedule, Stream } from "effect"
import type { RunStoreUnavailable } from "../../schema/Run.ts"
import { RunStore } from "./RunStore.ts"

/** A store that is opened when it is first used, as a whole. */
export const lazyRunStore = (
  opening: Effect.Effect<Omit<RunStore["Type"], "ready"> & Partial<RunStore["Type"]>, RunStoreUnavailable>
): RunStore["Type"] =>
  RunStore.of({
    ready: Effect.flatMap(opening, ({ ready }) => ready ?? Effect.void),
    isShared: Effect.flatMap(opening, (store) => store.isShared),
    insert: (stored) => Effect.flatMap(opening, (store) => store.insert(stored)),
    save: (run, attempt) => Effect.flatMap(opening, (store) => store.save(run, attempt)),
    find: (id) => Effect.flatMap(opening, (store) => store.find(id)),
    list: (query) => Effect.flatMap(opening, (store) => store.list(query)),
    findByKey: (key, since) => Effect.flatMap(opening, (store) => store.findByKey(key, since)),
    left: (except) => Effect.flatMap(opening, (store) => store.left(except)),
    take: (hold) => Effect.flatMap(opening, (store) => store.take(hold)),
    claim: (ids) => Effect.flatMap(opening, (store) => store.claim(ids)),
    askToCancel: (id) => Effect.flatMap(opening, (store) => store.askToCancel(id)),
    ordersFor: (holds) => Effect.flatMap(opening, (store) => store.ordersFor(holds)),
    release: Effect.flatMap(opening, (store) => store.release),
    changes: Stream.unwrap(
      Effect.orDie(Effect.retry(Effect.map(opening, (store) => store.changes), Schedule.spaced("2 seconds")))
    ),
    steps: (id) => Effect.flatMap(opening, (store) => store.steps(id)),
    beginStep: (hold, step) => Effect.flatMap(opening, (store) => store.beginStep(hold, step)),
    keepStep: (hold, step, result) => Effect.flatMap(opening, (store) => store.keepStep(hold, step, result)),
    appendEvents: (hold, events) => Effect.flatMap(opening, (store) => store.appendEvents(hold, events)),
    events: (id, after) => Effect.flatMap(opening, (store) => store.events(id, after)),
    check: Effect.flatMap(opening, (store) => store.check),
    purge: (before, most) => Effect.flatMap(opening, (store) => store.purge(before, most))
  })
