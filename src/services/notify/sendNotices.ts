import { Duration, Effect, Option, type Queue, Random } from "effect"
import { type ClaimedNotice, Outbox } from "../runs/Outbox.ts"
import { findNotifyTarget, sendNotification } from "./sendNotification.ts"

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
