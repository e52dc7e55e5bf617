import { Clock, Context, Deferred, Duration, Effect, Layer, Option, Ref, Schedule, Scope } from "effect"
import { type Run, RunStoreUnavailable } from "../../schema/runs.ts"
import { formatTimeOfDay } from "../../schema/words.ts"
import { countEnd } from "../metrics.ts"
import { Instance, makeRunIds } from "../runs/Runs.ts"
import { runWorkflow } from "../runs/Steps.ts"
import {
  makeLazyRunStore,
  type Outbox,
  RunHistory,
  type RunOwnership,
  type RunRecord,
  RunRecords,
  stateLayer,
  type StateStore,
  type StoredRun
} from "../runs/store.ts"
import { Settings } from "../settings/Settings.ts"
import { findStoreHolder, type HolderNote, isHeldHere, noteHolder, type StoreHolder } from "./discovery.ts"

/** Maximum number of stored ended runs, regardless of their age. */
const mostEndedRuns = 10_000

const purgePause = Duration.hours(6)

/** Purges runs older than `runs.keep`, now and every six hours; skipped while the settings cannot be read. */
export const purgeRuns = (
  history: Pick<RunHistory["Type"], "purge">,
  settings: Settings["Type"]
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const keep = yield* settings.get("runs.keep")
    const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(keep)
    yield* history.purge(before, mostEndedRuns)
  }).pipe(Effect.ignore, Effect.repeat(Schedule.spaced(purgePause)), Effect.asVoid)

const usedBy = (who: string) => `${who} of this machine uses it. Stop that one, or use its address`

const usedByService = (name: string, address: string) =>
  `the service at ${address} (${name}) uses it. Use that one with --url ${address}, or stop it if it does not answer`

const usedByUnknown = (file: string) =>
  "another Berth of this machine, which has not said who it is, uses it. " +
  `Stop that one (\`fuser ${file}\` names its process), or use its address`

/**
 * Longest wait for a holder that is a service, which may hold the store for months, and of calls that only read. Their
 * caller has looked for another process that answers for seconds by then.
 */
const readTimeout = Duration.seconds(1)

/** Longest wait of changes for a holder that may be about to end, or to write its note. */
const changeTimeout = Duration.seconds(3)

/** Time after which a holder without a note is unknown: a note follows the lock. */
const noteDelay = Duration.seconds(1)

/** Process that holds a store, as far as its note describes it. */
export type HolderKind = "command" | "service" | "unknown"

const holderKind = (holder: Option.Option<StoreHolder>): HolderKind =>
  Option.match(holder, {
    onNone: () => "unknown",
    onSome: ({ address }) => Option.isSome(address) ? "service" : "command"
  })

/**
 * Longest wait of a call for a holder, since that was first met. None where only the caller's own timeout applies: a
 * command lets go with its last run.
 */
export const holdTimeout = (
  holder: HolderKind,
  { isCommand, isRead }: { readonly isCommand: boolean; readonly isRead: boolean }
): Option.Option<Duration.Duration> => {
  if (holder === "command") return isRead ? Option.some(readTimeout) : Option.none()
  if (holder === "unknown") return Option.some(isRead ? readTimeout : changeTimeout)
  if (isCommand) return Option.some(readTimeout)
  return Option.some(isRead ? Duration.zero : changeTimeout)
}

/** Shortest time for opening a file that its holder has let go. */
const freeTimeout = Duration.seconds(10)

const lookPause = Duration.millis(200)

const reopenPause = Duration.seconds(2)

const slowOpening = "opening it takes long: this machine or its disk is busy. Try again"

/** A file that nobody holds opens as soon as the disk has taken it: waiting on is better than a failure. */
const slowFactor = 4

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
    const hindrance = yield* Ref.make(slowOpening)
    const named = yield* Ref.make("")
    const isCommand = Duration.greaterThan(holderTimeout, openTimeout)
    // A holder notes its run a moment after it has taken the file.
    const unnamed = yield* Ref.make({ name: "", since: 0 })
    const held = yield* Ref.make(Option.none<{ readonly kind: HolderKind; readonly since: number }>())
    const note = yield* Ref.make(Option.none<HolderNote>())
    const changed = (run: Run) =>
      Effect.flatMap(Ref.get(note), Option.match({ onNone: () => Effect.void, onSome: (note) => note.changed(run) }))
    // Others that wait see the note from the beginning, not only when the file has been checked.
    const locked = Effect.gen(function*() {
      yield* Ref.set(held, Option.none())
      yield* Ref.set(note, Option.some(yield* noteHolder(file)))
    })

    const warnOfWait = (who: string, since: string) =>
      Effect.logWarning(`Waiting for another berth${who}${since}${isCommand ? " (Ctrl-C ends it)" : ""}`)
    const describeHolder = ({ address, name }: StoreHolder) =>
      Option.match(address, {
        onNone: () => usedBy(`another Berth (${name})`),
        onSome: (address) => usedByService(name, address)
      })
    const waiting = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const holder = yield* findStoreHolder(file)
      const kind = holderKind(holder)
      const met = Option.filter(yield* Ref.get(held), (before) => before.kind === kind)
      const { since } = Option.getOrElse(met, () => ({ since: now }))
      yield* Ref.set(held, Option.some({ kind, since }))
      const words = Option.match(holder, { onNone: () => usedByUnknown(file), onSome: describeHolder })
      if (Option.isNone(holder)) {
        yield* Ref.set(hindrance, words)
        if (now - since < Duration.toMillis(noteDelay) || (yield* Ref.getAndSet(named, words)) === words) return
        return yield* warnOfWait(", which has not said who it is", `, since ${formatTimeOfDay(new Date(since))}`)
      }
      const { address, hasRuns, name } = holder.value
      if (!hasRuns && Option.isNone(address)) {
        const before = yield* Ref.get(unnamed)
        if (before.name !== name) yield* Ref.set(unnamed, { name, since: now })
        if (before.name !== name || now - before.since < Duration.toMillis(noteDelay)) return
      }
      if ((yield* Ref.getAndSet(hindrance, words)) === words) return
      // Does not warn again about the same process once its runs have ended.
      if ((yield* Ref.get(named)).endsWith(name)) return
      yield* Ref.set(named, name)
      yield* warnOfWait(
        `: ${name}`,
        Option.match(holder.value.since, { onNone: () => "", onSome: (time) => `, since ${time}` })
      )
    })
    // Native modules are loaded on first use.
    const load = Effect.promise(() => import("./openState.ts"))
    const open = Effect.gen(function*() {
      const { openState, sqlReason } = yield* load
      const store = yield* openState(file, { waiting, locked }).pipe(
        Effect.tapError((error) => Ref.set(hindrance, sqlReason(error))),
        Effect.tapError(() => Deferred.succeed(stuck, undefined)),
        Effect.retry(Schedule.spaced(reopenPause)),
        Effect.orDie
      )
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
    const hasWaited = (isRead: boolean) =>
      Effect.gen(function*() {
        const hold = yield* Ref.get(held)
        if (Option.isNone(hold)) return false
        const { kind, since } = hold.value
        const timeout = holdTimeout(kind, { isCommand, isRead })
        const now = yield* Clock.currentTimeMillis
        if (Option.isNone(timeout) || now - since < Duration.toMillis(timeout.value)) return false
        // The holder may have let go, or changed, since the last attempt.
        return holderKind(yield* findStoreHolder(file)) === kind
      })
    // Completes when a call has waited long enough for a holder that may not let go.
    const givenUp = (isRead: boolean) =>
      Effect.repeat(hasWaited(isRead), { until: (is) => is, schedule: Schedule.spaced(lookPause) })
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
    const isJustSlow = Effect.map(Ref.get(hindrance), (reason) => reason === slowOpening)
    const inTime = (isRead: boolean) =>
      now.pipe(
        Effect.filterOrElse(Option.isSome, () => waited(isRead)),
        Effect.filterOrElse(Option.isSome, () =>
          Effect.if(isJustSlow, {
            onTrue: () => waited(isRead, Duration.times(Duration.decode(openTimeout), slowFactor - 1)),
            onFalse: () => Effect.succeedNone
          }))
      )
    const requireStore = (isRead: boolean) =>
      Effect.gen(function*() {
        yield* Effect.uninterruptible(wanted)
        let store = yield* inTime(isRead)
        if (Option.isNone(store) && isCommand && !isRead && !(yield* hasWaited(false))) {
          // A race waits for its loser: uninterruptible, `released` would wait for this process, which is the holder by
          // then, for hours.
          const isFree = yield* Effect.raceAll([
            Effect.interruptible(Effect.map(released, Option.isSome)),
            Effect.interruptible(Effect.as(Deferred.await(opened), true)),
            Effect.interruptible(Effect.as(givenUp(false), false))
          ])
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
        insert: (stored) => Effect.zipLeft(changing.insert(stored), changed(stored.run)),
        save: (run, attempt, notices) => Effect.zipLeft(changing.save(run, attempt, notices), changed(run))
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

const openTimeout = Duration.seconds(15)

const invalidSettings = (reason: string) =>
  new RunStoreUnavailable({
    store: "the store that the settings name",
    reason: `${reason}. Correct it, and ask again`
  })

/**
 * Store in the database of `state.url`, by default in a file beside the settings. Resolved on first use, for the lifetime
 * of the process. Unreadable settings never fall back to the file: peers may be executing the same runs.
 * @param holderTimeout time that a call waits for the file while another process holds it
 */
export const runStoreLive = (
  file: string,
  holderTimeout: Duration.DurationInput = openTimeout
): Layer.Layer<Outbox | RunHistory | RunOwnership, never, Settings | Instance> =>
  stateLayer(
    Effect.gen(function*() {
      const settings = yield* Settings
      const instance = yield* Instance
      const scope = yield* Effect.scope
      const chosen = yield* Ref.make(Option.none<StateStore>())
      const choice = yield* Effect.makeSemaphore(1)

      const shared = Effect.gen(function*() {
        const url = yield* settings.find("state.url")
        if (Option.isNone(url)) return Option.none()
        const takeOver = yield* settings.get("state.takeOver")
        // Loads the PostgreSQL client only if it is used.
        const { makePgRunStore } = yield* Effect.promise(() => import("./postgres/store.ts"))
        const { description, id } = instance
        const store = yield* makePgRunStore(url.value, { id, description, takeOver })
        yield* Effect.forkScoped(Effect.interruptible(purgeRuns(store.history, settings)))
        return Option.some(store)
      }).pipe(Effect.mapError(({ message }) => invalidSettings(message)))
      const choose = Effect.gen(function*() {
        const before = yield* Ref.get(chosen)
        if (Option.isSome(before)) return before.value
        const store = yield* Effect.flatMap(
          shared,
          Option.match({ onNone: () => makeRunStoreIn(file, openTimeout, holderTimeout), onSome: Effect.succeed })
        )
        yield* Ref.set(chosen, Option.some(store))
        return store
      }).pipe(
        Effect.provideService(Settings, settings),
        Effect.provideService(Scope.Scope, scope),
        Effect.uninterruptible,
        choice.withPermits(1)
      )
      return makeLazyRunStore(choose)
    })
  )

const storedRun = ({ kind, requestedBy, step, subject }: RunRecord, id: string, now: string): StoredRun => ({
  run: {
    id,
    kind,
    subject,
    state: "succeeded",
    requestedBy,
    requestedAt: now,
    startedAt: now,
    endedAt: now,
    steps: [{ step: step.name, status: "done", detail: step.detail, startedAt: now, endedAt: now }],
    result: null,
    error: null
  },
  request: null,
  workflow: runWorkflow(kind).name,
  queue: `${kind} ${id}`,
  idempotency: Option.none(),
  attempt: 1
})

/**
 * Adds entries to the store of runs.
 * @param holderTimeout as for `runStoreLive`; if given, this process serves no others, and holds the file only while it
 * adds an entry: the recorded action may last for hours
 */
export const runRecordsLive = (
  file: string,
  holderTimeout: Duration.DurationInput | undefined
): Layer.Layer<RunRecords, never, Instance | RunHistory | Settings> =>
  Layer.effect(
    RunRecords,
    Effect.gen(function*() {
      const context = yield* Effect.context<Instance | Settings>()
      const history = yield* RunHistory
      const settings = yield* Settings
      const newId = yield* makeRunIds
      // Fails with the holder's name if a deploy holds the store: a user waits at a terminal.
      const brief = Layer.fresh(runStoreLive(file)).pipe(
        Layer.build,
        Effect.map(Context.get(RunHistory)),
        Effect.provide(context)
      )
      return {
        add: Effect.fn("RunRecords.add")((record: RunRecord) =>
          Effect.gen(function*() {
            const now = new Date(yield* Clock.currentTimeMillis).toISOString()
            const stored = storedRun(record, yield* newId, now)
            // A second link to a shared database would take over the lease of the first.
            const isShared = Option.isSome(Option.flatten(yield* Effect.option(settings.find("state.url"))))
            const keeps = holderTimeout === undefined || isShared || (yield* isHeldHere(file))
            yield* (keeps ? history : yield* brief).insert(stored)
            yield* countEnd(stored.run)
          }).pipe(Effect.scoped)
        )
      }
    })
  )
