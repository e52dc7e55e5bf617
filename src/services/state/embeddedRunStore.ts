import { Deferred, Duration, Effect, Layer, Option, Ref, Schedule, Scope } from "effect"
import { type Run, RunStoreUnavailable } from "../../schema/Run.ts"
import { lazyRunStore } from "../runs/lazyRunStore.ts"
import { RunStore } from "../runs/RunStore.ts"
import { Settings } from "../settings/Settings.ts"
import { purging } from "./purging.ts"
import { type HolderNote, holderOf, noteHolder } from "./storeHolder.ts"

const usedBy = (who: string) => `${who} of this machine uses it. Stop that one, or use its address`

type Opened = Omit<RunStore["Type"], "ready">

const reopenPause = Duration.seconds(2)

/**
 * Runs in an embedded database beside the settings file. It is opened when it is first asked for, beside everything else:
 * the service answers meanwhile.
 * @param openTimeout how long a call waits for the file to be opened
 * @param holderTimeout how long it waits while another process that lives has the file
 */
export const makeRunStoreIn = (
  file: string,
  openTimeout: Duration.DurationInput,
  holderTimeout: Duration.DurationInput = openTimeout
): Effect.Effect<RunStore["Type"], never, Settings | Scope.Scope> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const scope = yield* Effect.scope
    const opened = yield* Deferred.make<Opened>()
    // It was found that the file cannot be used as things are: who asks is told so at once, and it is tried again.
    const stuck = yield* Deferred.make<void>()
    const isWanted = yield* Ref.make(false)
    const hindrance = yield* Ref.make(usedBy("another Berth"))
    const note = yield* Deferred.make<HolderNote>()
    const changed = (run: Run) => Effect.flatMap(Deferred.await(note), ({ changed }) => changed(run))

    const waiting = Effect.gen(function*() {
      const holder = yield* holderOf(file)
      const words = usedBy(
        Option.match(holder, { onNone: () => "another Berth", onSome: (who) => `another Berth (${who})` })
      )
      if ((yield* Ref.getAndSet(hindrance, words)) === words) return
      if (Option.isSome(holder)) yield* Effect.logWarning(`Waiting for another berth: ${holder.value}`)
    })
    // What it takes is loaded with the first use: it has parts in machine code.
    const load = Effect.promise(() => Promise.all([import("./openState.ts"), import("./sqlReason.ts")]))
    const open = Effect.gen(function*() {
      const [{ openState }, { reasonOf }] = yield* load
      const store = yield* openState(file, waiting).pipe(
        Effect.tapError((error) => Ref.set(hindrance, reasonOf(error))),
        Effect.tapError(() => Deferred.succeed(stuck, undefined)),
        Effect.retry(Schedule.spaced(reopenPause)),
        Effect.orDie
      )
      yield* Deferred.succeed(note, yield* noteHolder(file))
      yield* Deferred.succeed(opened, store)
      yield* purging(store, settings)
    })
    const wanted = Effect.whenEffect(
      Effect.forkIn(Effect.interruptible(Effect.provideService(open, Scope.Scope, scope)), scope),
      Ref.modify(isWanted, (before) => [!before, true])
    )
    const isHeld = Effect.map(holderOf(file), Option.isSome)
    // Completes when whoever has the file has ended, or has had it for too long.
    const letGo = Effect.repeat(isHeld, { while: (is) => is, schedule: Schedule.spaced(openTimeout) }).pipe(
      Effect.timeoutOption(holderTimeout)
    )
    const now = Effect.flatMap(Deferred.poll(opened), Effect.transposeOption)
    // The time also holds for who cannot be interrupted: a service that ends.
    const waited = Effect.raceFirst(Deferred.await(opened), Deferred.await(stuck)).pipe(
      Effect.interruptible,
      Effect.timeoutOption(openTimeout),
      Effect.zipRight(now)
    )
    const inTime = Effect.flatMap(now, (store) => Option.isSome(store) ? Effect.succeed(store) : waited)
    const opening = Effect.gen(function*() {
      yield* Effect.uninterruptible(wanted)
      let store = yield* inTime
      if (Option.isNone(store) && Duration.greaterThan(holderTimeout, openTimeout)) {
        // A race waits for its loser: one that cannot be interrupted would see this process as the holder, for hours.
        yield* Effect.raceFirst(Effect.interruptible(letGo), Effect.interruptible(Deferred.await(opened)))
        store = yield* inTime
      }
      if (Option.isSome(store)) return store.value
      return yield* new RunStoreUnavailable({ store: file, reason: yield* Ref.get(hindrance) })
    })
    const store = lazyRunStore(opening)
    return {
      ...store,
      // Nobody else could go on with what it holds.
      release: Effect.void,
      insert: (stored) => Effect.zipLeft(store.insert(stored), changed(stored.run)),
      save: (run, attempt) => Effect.zipLeft(store.save(run, attempt), changed(run))
    }
  })

/** The same as a layer, whatever the settings say. */
export const runStoreIn = (
  file: string,
  openTimeout: Duration.DurationInput,
  holderTimeout: Duration.DurationInput = openTimeout
): Layer.Layer<RunStore, never, Settings> => Layer.scoped(RunStore, makeRunStoreIn(file, openTimeout, holderTimeout))
