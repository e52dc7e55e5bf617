import { Array, Clock, Duration, Effect, Option, type Queue, Random } from "effect"
import {
  NotifyFailed,
  type NotifyMessage,
  type NotifyTarget,
  NotifyTargetUnknown,
  type NotifyTested
} from "../../schema/notify.ts"
import { type ClaimedNotice, Outbox } from "../runs/store.ts"
import { scrubSecrets, Settings } from "../settings/Settings.ts"
import { buildTestMessage } from "./messages.ts"
import { Post, render } from "./Post.ts"

/** Finds the target with this name in the settings. */
const findNotifyTarget = (name: string) =>
  Effect.flatMap(
    Settings,
    ({ targets }) => Effect.map(targets, Array.findFirst((target: NotifyTarget) => target.name === name))
  )

/** Sends a message to one target once, and answers the status of its receiver. The reason of a failure holds no secret. */
const sendNotification = Effect.fn("notify.send")(function*(
  { access, format, name }: NotifyTarget,
  message: NotifyMessage
): Effect.fn.Return<number, NotifyFailed, Post | Settings> {
  const { secret, url } = yield* Effect.mapError(access, ({ message: reason }) => new NotifyFailed({ name, reason }))
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  return yield* (yield* Post).send(url, render(format, message, secret, seconds)).pipe(
    Effect.catchAll(({ pause, reason }) =>
      Effect.flatMap(
        scrubSecrets(reason),
        (shown) => new NotifyFailed({ name, reason: shown, ...pause === undefined ? {} : { pause } })
      )
    )
  )
})

/** Time during which a failed notification is retried. */
const retryTime = Duration.hours(1)
/** Time for one attempt of a process, after which another process may claim the notification. */
const attemptTimeout = Duration.seconds(30)

const firstPause = 1_000
// Short, so that a receiver is notified soon after it has recovered.
const longestPause = 30_000
const longestAsked = 5 * 60_000

/**
 * Pause after a number of attempts: doubles from one second to half a minute, with 20 % jitter, so that the
 * notifications of an outage are not retried all at once. A receiver may request a longer pause.
 */
const backoffAfter = (attempts: number, asked = 0): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.nextRange(0.8, 1.2), (jitter) => {
    const pause = Math.min(longestPause, firstPause * 2 ** Math.min(attempts - 1, 10)) * jitter
    return Duration.millis(Math.round(Math.max(pause, Math.min(asked, longestAsked))))
  })

const mostAtOnce = 16
const storePause = Duration.seconds(5)

/** Sends one claimed notification. It is removed once delivered or given up; otherwise it becomes due again later. */
const sendOne = (notice: ClaimedNotice) =>
  Effect.gen(function*() {
    const outbox = yield* Outbox
    const { age, attempts, id, message, target: name } = notice
    const target = yield* findNotifyTarget(name)
    if (Option.isNone(target)) {
      // A peer may have this target: peers share the store, not the settings.
      if (Duration.lessThan(age, retryTime)) return yield* outbox.postpone(notice, yield* backoffAfter(attempts))
      yield* Effect.logWarning(`Nobody was told "${message.title}": the settings have no target ${name} any more`)
      return yield* outbox.remove(id)
    }
    const told = yield* Effect.option(
      sendNotification(target.value, message).pipe(
        Effect.tapError((failed) =>
          Effect.gen(function*() {
            if (Duration.greaterThanOrEqualTo(age, retryTime)) {
              yield* Effect.logWarning(`${failed.message}. Giving up on "${message.title}"`)
              return yield* outbox.remove(id)
            }
            if (attempts === 1) yield* Effect.logWarning(`${failed.message}. It is tried again for an hour`)
            yield* outbox.postpone(notice, yield* backoffAfter(attempts, failed.pause))
          })
        )
      )
    )
    if (Option.isSome(told)) yield* outbox.remove(id)
  })

/** Sends due notifications until none is left. */
const sendDue = (attempted: (id: string) => void) =>
  Effect.gen(function*() {
    const outbox = yield* Outbox
    while (true) {
      const claimed = yield* outbox.claim(mostAtOnce, attemptTimeout)
      if (claimed.length === 0) return
      yield* Effect.forEach(
        claimed,
        (notice) =>
          sendOne(notice).pipe(
            // An interrupted notification is due again at once, for the next sender.
            Effect.onInterrupt(() => Effect.ignore(outbox.postpone(notice, Duration.zero))),
            Effect.ensuring(Effect.sync(() => attempted(notice.id)))
          ),
        { concurrency: "unbounded", discard: true }
      )
    }
  })

/**
 * Sends notifications until it is interrupted: at once when it is woken, and again when one is due.
 * @param attempted called with the id of each notification that was tried
 * @param longestWait pause after which it looks for notifications of other processes
 */
export const sendNotices = (
  wake: Queue.Dequeue<void>,
  attempted: (id: string) => void,
  longestWait: Effect.Effect<Option.Option<Duration.Duration>>
) =>
  Effect.gen(function*() {
    const outbox = yield* Outbox
    const round = Effect.gen(function*() {
      yield* sendDue(attempted)
      const due = yield* outbox.nextDue
      const waits = [...Option.toArray(due), ...Option.toArray(yield* longestWait)]
      const [wait] = waits.toSorted(Duration.Order)
      return Option.fromNullable(wait)
    })
    yield* Effect.forever(Effect.gen(function*() {
      const wait = yield* Effect.catchTag(round, "RunStoreUnavailable", () => Effect.succeedSome(storePause))
      yield* Option.match(wait, {
        onNone: () => wake.take,
        onSome: (pause) => Effect.raceFirst(wake.take, Effect.sleep(pause))
      })
    }))
  })

/** Sends a test message to one target, in one attempt. */
export const testTarget = (name: string) =>
  Effect.gen(function*() {
    const found = yield* findNotifyTarget(name)
    if (Option.isNone(found)) {
      const names = (yield* (yield* Settings).targets).map((target) => target.name)
      return yield* new NotifyTargetUnknown({ name, names })
    }
    const since = yield* Clock.currentTimeMillis
    const status = yield* sendNotification(found.value, buildTestMessage(name, since))
    const milliseconds = (yield* Clock.currentTimeMillis) - since
    return { name, format: found.value.format, status, milliseconds } satisfies NotifyTested
  })
