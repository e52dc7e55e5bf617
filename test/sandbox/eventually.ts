import { type Duration, Effect, Schedule } from "effect"

/** Waits until a condition holds; fails after 20 seconds, or another time. For `it.live` tests. */
export const eventually = <E, R>(
  condition: Effect.Effect<boolean, E, R>,
  duration: Duration.DurationInput = "20 seconds"
): Effect.Effect<void, E | Error, R> =>
  condition.pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutFail({ duration, onTimeout: () => new Error("it did not become true") }),
    Effect.asVoid
  )
