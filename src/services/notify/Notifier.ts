import { Clock, Context, Duration, Effect, FiberSet, Layer, Option, Queue, Ref } from "effect"
import type {
  NotifiedBackup,
  NotifiedDrift,
  NotifyEvent,
  NotifyFailed,
  NotifyTarget,
  NotifyTargetUnknown,
  NotifyTested
} from "../../schema/notify.ts"
import { isEnded, type Run } from "../../schema/runs.ts"
import { differencesIn, type Drift } from "../../schema/upsert.ts"
import { countRun } from "../metrics.ts"
import { type Notice, Outbox, RunHistory, RunOwnership } from "../runs/store.ts"
import { Settings } from "../settings/Settings.ts"
import type { Post } from "./Post.ts"

/** Notifies the targets in the settings of events. */
export class Notifier extends Context.Tag("berth/Notifier")<Notifier, {
  /** Notifications of a run's end; empty when no target subscribes to it. */
  readonly noticesOf: (run: Run) => Effect.Effect<ReadonlyArray<Notice>>
  /** Sends notifications that this process has added to the outbox. */
  readonly added: (notices: ReadonlyArray<Notice>) => Effect.Effect<void>
  /**
   * Starts sending notifications that other processes left in the outbox, for the lifetime of this process. Drift is
   * notified from then on.
   */
  readonly serve: Effect.Effect<void>
  /** Notifies of an application that has drifted and had not at its previous check. */
  readonly driftJudged: (judged: NotifiedDrift) => Effect.Effect<void>
  /** Notifies of a stack whose last backup is old and was not when it was judged before. */
  readonly backupJudged: (judged: NotifiedBackup, isOld: boolean) => Effect.Effect<void>
  /** Sends a test message to one target immediately. */
  readonly test: (name: string) => Effect.Effect<NotifyTested, NotifyTargetUnknown | NotifyFailed>
}>() {}

/** History of runs that stores the end of a run together with its notifications. */
export const AnnouncedHistoryLive: Layer.Layer<RunHistory, never, Notifier | RunHistory> = Layer.effect(
  RunHistory,
  Effect.gen(function*() {
    const history = yield* RunHistory
    const { added, noticesOf } = yield* Notifier
    return {
      ...history,
      save: (run, attempt) =>
        Effect.flatMap(
          noticesOf(run),
          (notices) =>
            history.save(run, attempt, notices).pipe(Effect.zipLeft(added(notices)), Effect.zipLeft(countRun(run)))
        )
    }
  })
)

const lookPause = Duration.seconds(15)
const awaitPause = Duration.millis(20)
// Maximum time that a shutdown waits for receivers; the next process sends the rest.
const lastTime = Duration.seconds(5)

// Both are loaded only if there is a target.
const loadMessages = Effect.promise(() => import("./messages.ts"))
const loadDelivery = Effect.promise(() => import("./delivery.ts"))

/**
 * Sends the outbox from first use until the scope closes. Before that, notifications that were just added are tried
 * once.
 */
const makeSender = Effect.gen(function*() {
  const ownership = yield* RunOwnership
  const context = yield* Effect.context<Outbox | Post | Settings>()
  const fibers = yield* FiberSet.make<unknown, unknown>()
  const wake = yield* Queue.sliding<void>(1)
  const isServing = yield* Ref.make(false)
  // Ids of notifications of this process that were not tried yet.
  const fresh = new Set<string>()

  const longestWait = Effect.gen(function*() {
    const isShared = (yield* Ref.get(isServing)) && (yield* Effect.orElseSucceed(ownership.isShared, () => false))
    return isShared ? Option.some(lookPause) : Option.none()
  })
  const sending = Effect.flatMap(
    loadDelivery,
    ({ sendNotices }) => sendNotices(wake, (id) => fresh.delete(id), longestWait)
  )
  const fork = (effect: Effect.Effect<unknown, never, Outbox | Post | Settings>) =>
    FiberSet.run(fibers, Effect.interruptible(Effect.provide(effect, context)))
  const start = yield* Effect.once(fork(sending))
  // Registered after the set, so that it runs before the set interrupts the sender.
  yield* Effect.addFinalizer(() =>
    Effect.iterate(fresh.size, {
      while: () => fresh.size > 0,
      body: () => Effect.as(Effect.sleep(awaitPause), fresh.size)
    }).pipe(Effect.interruptible, Effect.timeoutOption(lastTime))
  )
  return {
    fork,
    isServing,
    send: (notices: ReadonlyArray<Notice>) =>
      Effect.suspend(() => {
        for (const { message } of notices) fresh.add(message.id)
        return Effect.asVoid(Effect.zipRight(start, Queue.offer(wake, undefined)))
      })
  }
})

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const outbox = yield* Outbox
  const { fork, isServing, send } = yield* makeSender
  const told = yield* Effect.context<Post | Settings>()
  /** Tells the targets of an event of a condition that holds and did not when it was judged before. */
  const tellOnce = (
    event: NotifyEvent,
    condition: string,
    holds: boolean,
    build: (
      messages: Effect.Effect.Success<typeof loadMessages>,
      targets: ReadonlyArray<NotifyTarget>,
      now: number
    ) => ReadonlyArray<Notice>
  ) =>
    Effect.gen(function*() {
      if (!(yield* Ref.get(isServing))) return
      const targets = yield* settings.targets
      if (!targets.some(({ events }) => events.includes(event))) return
      const notices = build(yield* loadMessages, targets, yield* Clock.currentTimeMillis)
      const adding = Effect.flatMap(
        outbox.addOnce(condition, holds, notices),
        (isAdded) => isAdded ? send(notices) : Effect.void
      )
      // Adds it in the background: the caller waits for the result of the check alone.
      yield* fork(Effect.ignore(adding))
    })
  return Notifier.of({
    noticesOf: (run) =>
      Effect.gen(function*() {
        if (!isEnded(run.state)) return []
        const targets = yield* settings.targets
        return targets.length === 0 ? [] : (yield* loadMessages).buildRunNotices(run, targets)
      }),
    added: (notices) => notices.length === 0 ? Effect.void : send(notices),
    serve: Effect.gen(function*() {
      yield* Ref.set(isServing, true)
      if ((yield* settings.targets).length > 0) yield* send([])
    }),
    driftJudged: (judged) =>
      tellOnce(
        "drift",
        JSON.stringify([judged.projectPath, judged.appName]),
        judged.differences > 0,
        ({ buildDriftNotices }, targets, now) => buildDriftNotices(judged, targets, now)
      ),
    backupJudged: (judged, isOld) =>
      tellOnce(
        "backupOld",
        JSON.stringify(["backupOld", judged.server, judged.remotePath]),
        isOld,
        ({ buildBackupNotices }, targets, now) => buildBackupNotices(judged, targets, now)
      ),
    test: (name) =>
      Effect.gen(function*() {
        const { testTarget } = yield* loadDelivery
        return yield* testTarget(name)
      }).pipe(Effect.provide(told), Effect.withSpan("Notifier.test"))
  })
})

export const NotifierLive: Layer.Layer<Notifier, never, Outbox | Post | RunOwnership | Settings> = Layer.scoped(
  Notifier,
  make
)

type Found = Parameters<typeof differencesIn>[0] & Pick<Drift, "unknown">

/** Fields that are unknown only while a server or the platform does not respond. */
const passing: ReadonlyArray<string> = ["route", "server"]

/**
 * Reports the drift of an application, if there is a notifier. An application without known differences is skipped
 * while its route or server cannot be read: an earlier drift may persist.
 */
export const reportDrift = (judged: Omit<NotifiedDrift, "differences">, found: Found): Effect.Effect<void> =>
  Effect.flatMap(
    Effect.serviceOption(Notifier),
    Option.match({
      onNone: () => Effect.void,
      onSome: ({ driftJudged }) => {
        const differences = differencesIn(found)
        const isUnread = (found.unknown ?? []).some(({ field }) => passing.includes(field))
        return differences === 0 && isUnread ? Effect.void : driftJudged({ ...judged, differences })
      }
    })
  )
