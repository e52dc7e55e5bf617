import { Clock, Deferred, Duration, Effect, type Layer, Option, Ref, Schedule, Scope } from "effect"
import type { Run } from "../../../schema/runs/Run.ts"
import { RunStoreUnavailable } from "../../../schema/runs/runFailures.ts"
import { makeLazyRunStore } from "../../runs/makeLazyRunStore.ts"
import type { Outbox } from "../../runs/Outbox.ts"
import type { RunHistory } from "../../runs/RunHistory.ts"
import type { RunOwnership } from "../../runs/RunOwnership.ts"
import { stateLayer, type StateStore } from "../../runs/RunStore.ts"
import { Settings } from "../../settings/Settings.ts"
import { findStoreHolder, type HolderNote, noteHolder } from "../discovery/storeHolder.ts"
import { purgeRuns } from "../sql/purgeRuns.ts"

const usedBy = (who: string) => `${who} of this machine uses it. Stop that one, or use its address`

const usedByService = (name: string, address: string) =>
  `the service at ${address} (${name}) uses it. Use that one with --url ${address}, or stop it`

/** Longest wait for a holder that is a service, which may hold the store for months, and of calls that only read. */
const readTimeout = Duration.seconds(3)

/** Shortest time for opening a file that its holder has let go. */
const freeTimeout = Duration.seconds(10)

const lookPause = Duration.millis(200)

const reopenPause = Duration.seconds(2)

/**
 * Store in an embedded database beside the settings file, opened in the background on first use.
 * @param openTimeout time that a call waits for the file to be opened
 * @param holderTimeout time that a call waits while another live process holds the file
 */
export const makeRunStoreIn = (
  file: string,
  openTimeout: Duration.DurationInput,
  holderTimeout: Duration.DurationInput = openTimeout
): Effect.Effect<StateStore, never, Settings | Scope.Scope> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const scope = yield* Effect.scope
    const opened = yield* Deferred.make<StateStore>()
    // Completes when the file turns out to be unusable: calls fail fast; retries continue in the background.
    const stuck = yield* Deferred.make<void>()
    const isWanted = yield* Ref.make(false)
    const hindrance = yield* Ref.make(usedBy("another Berth"))
    const named = yield* Ref.make("")
    const isCommand = Duration.greaterThan(holderTimeout, openTimeout)
    const heldSince = yield* Ref.make(Option.none<number>())
    const note = yield* Deferred.make<HolderNote>()
    const changed = (run: Run) => Effect.flatMap(Deferred.await(note), ({ changed }) => changed(run))

    const waiting = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      yield* Ref.update(heldSince, Option.orElseSome(() => now))
      const holder = yield* findStoreHolder(file)
      const name = Option.match(holder, { onNone: () => "", onSome: ({ name }) => name })
      const address = Option.flatMap(holder, ({ address }) => address)
      const words = Option.isSome(address)
        ? usedByService(name, address.value)
        : usedBy(name === "" ? "another Berth" : `another Berth (${name})`)
      if ((yield* Ref.getAndSet(hindrance, words)) === words) return
      // Does not warn again about the same process once its runs have ended.
      if ((yield* Ref.get(named)).endsWith(name)) return
      yield* Ref.set(named, name)
      const since = Option.match(Option.flatMap(holder, ({ since }) => since), {
        onNone: () => "",
        onSome: (time) => `, since ${time}`
      })
      yield* Effect.logWarning(`Waiting for another berth: ${name}${since}${isCommand ? " (Ctrl-C ends it)" : ""}`)
    })
    // Native modules are loaded on first use.
    const load = Effect.promise(() => Promise.all([import("./openState.ts"), import("./sqlReason.ts")]))
    const open = Effect.gen(function*() {
      const [{ openState }, { sqlReason }] = yield* load
      const store = yield* openState(file, waiting).pipe(
        Effect.tapError((error) => Ref.set(hindrance, sqlReason(error))),
        Effect.tapError(() => Deferred.succeed(stuck, undefined)),
        Effect.retry(Schedule.spaced(reopenPause)),
        Effect.orDie
      )
      yield* Deferred.succeed(note, yield* noteHolder(file))
      yield* Deferred.succeed(opened, store)
      yield* purgeRuns(store.history, settings)
    })
    const wanted = Effect.whenEffect(
      Effect.forkIn(Effect.interruptible(Effect.provideService(open, Scope.Scope, scope)), scope),
      Ref.modify(isWanted, (before) => [!before, true])
    )
    const isHeld = Effect.map(findStoreHolder(file), Option.exists(({ address }) => Option.isNone(address)))
    // Completes when the holder has ended, or after the timeout. A service does not end with a run.
    const released = Effect.repeat(isHeld, { while: (is) => is, schedule: Schedule.spaced(openTimeout) }).pipe(
      Effect.timeoutOption(holderTimeout)
    )
    const isHeldByOther = (isRead: boolean) =>
      Effect.map(findStoreHolder(file), Option.exists(({ address }) => isRead || Option.isSome(address)))
    const hasWaited = Effect.gen(function*() {
      const since = yield* Ref.get(heldSince)
      const now = yield* Clock.currentTimeMillis
      return Option.exists(since, (since) => now - since >= Duration.toMillis(readTimeout))
    })
    // Completes when a command has waited long enough for a holder that may not let go. Never for a service.
    const givenUp = (isRead: boolean) =>
      isCommand
        ? Effect.repeat(
          Effect.if(hasWaited, { onTrue: () => isHeldByOther(isRead), onFalse: () => Effect.succeed(false) }),
          {
            until: (is) => is,
            schedule: Schedule.spaced(lookPause)
          }
        )
        : Effect.never
    const now = Effect.flatMap(Deferred.poll(opened), Effect.transposeOption)
    // The timeout also applies to uninterruptible callers, such as a shutdown.
    const waited = (isRead: boolean, timeout: Duration.DurationInput = openTimeout) =>
      Effect.raceFirst(
        Effect.interruptible(Effect.raceFirst(Deferred.await(opened), Deferred.await(stuck))),
        Effect.interruptible(givenUp(isRead))
      ).pipe(
        Effect.interruptible,
        Effect.timeoutOption(timeout),
        Effect.zipRight(now)
      )
    const inTime = (isRead: boolean) =>
      Effect.flatMap(now, (store) => Option.isSome(store) ? Effect.succeed(store) : waited(isRead))
    const requireStore = (isRead: boolean) =>
      Effect.gen(function*() {
        yield* Effect.uninterruptible(wanted)
        let store = yield* inTime(isRead)
        if (Option.isNone(store) && isCommand && !isRead && !(yield* isHeldByOther(false))) {
          // A race waits for its loser: uninterruptible, `released` would wait for this process, which is the holder by
          // then, for hours.
          const isFree = yield* Effect.raceFirst(
            Effect.interruptible(Effect.map(released, Option.isSome)),
            Effect.interruptible(Effect.as(Deferred.await(opened), true))
          )
          // A busy machine takes a while to open a file that is free by now.
          store = yield* isFree ? waited(isRead, Duration.max(openTimeout, freeTimeout)) : inTime(isRead)
        }
        if (Option.isSome(store)) return store.value
        return yield* new RunStoreUnavailable({ store: file, reason: yield* Ref.get(hindrance) })
      })
    const opening = requireStore(false)
    const { history: changing, outbox, ownership } = makeLazyRunStore(opening)
    const { history } = makeLazyRunStore(requireStore(true))
    return {
      history: {
        ...history,
        ready: changing.ready,
        insert: (stored) => Effect.zipLeft(history.insert(stored), changed(stored.run)),
        save: (run, attempt, notices) => Effect.zipLeft(history.save(run, attempt, notices), changed(run))
      },
      outbox,
      // There is nothing to release: a file that was never used is not opened for it.
      ownership: { ...ownership, release: Effect.void }
    }
  })

/** The same store as a layer, regardless of `state.url`. */
export const runStoreIn = (
  file: string,
  openTimeout: Duration.DurationInput,
  holderTimeout: Duration.DurationInput = openTimeout
): Layer.Layer<Outbox | RunHistory | RunOwnership, never, Settings> =>
  stateLayer(makeRunStoreIn(file, openTimeout, holderTimeout))
