import { Effect, Schedule } from "effect"

/** Waits until a condition holds; fails after 20 seconds. For `it.live` tests. */
export const eventually = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E | Error, R> =>
  condition.pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutFail({ duration: "20 seconds", onTimeout: () => new Error("it did not become true") }),
    Effect.asVoid
  )
