import { SqlError } from "@effect/sql/SqlError"
import { Clock, Duration, Effect, Ref, Schedule } from "effect"

/** Monotonic clock that includes suspend. */
const stopwatch = Effect.map(Clock.currentTimeMillis, (wall) => {
  const steady = performance.now()
  return Effect.map(Clock.currentTimeMillis, (now) => Math.max(now - wall, performance.now() - steady))
})

/**
 * Heartbeat of a process over its connections to the database, one after the other.
 * @param lost executed once a lease was not renewed for a third of `takeOver`, long before it expires
 */
export const makeHeartbeat = (takeOver: Duration.Duration, lost: Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const millis = Duration.toMillis(takeOver)
    const sinceRenewed = yield* Ref.make(yield* stopwatch)
    const isHeld = yield* Ref.make(false)

    /** Renews the lease. */
    const renew = (renewal: Effect.Effect<void, SqlError>) =>
      Effect.gen(function*() {
        const since = yield* stopwatch
        yield* Effect.timeoutFail(renewal, {
          duration: Duration.millis(millis / 5),
          onTimeout: () => new SqlError({ cause: { code: "ETIMEDOUT" }, message: "no answer" })
        })
        yield* Ref.set(sinceRenewed, since)
        yield* Ref.set(isHeld, true)
      })

    /** Renews the lease again and again, until that fails. */
    const beat = (renewal: Effect.Effect<void, SqlError>) =>
      Effect.forever(Effect.delay(renew(renewal), Duration.millis(millis / 10)))

    const check = Effect.gen(function*() {
      const elapsed = yield* Effect.flatten(Ref.get(sinceRenewed))
      if (elapsed > millis / 3 && (yield* Ref.getAndSet(isHeld, false))) yield* lost
    })
    const watch = Effect.repeat(check, Schedule.spaced(Duration.millis(millis / 30)))
    return { renew, beat, watch }
  })
