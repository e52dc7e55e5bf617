import { Clock, Effect } from "effect"

/** End of an overview's observations in milliseconds since 1970, and the time limit of a single one. */
export interface Deadline {
  readonly at: number
  readonly millis: number
}

const seconds = (millis: number) => `${Math.max(0, Math.round(millis / 100) / 10)} s`

/**
 * Observes something, or returns `late` with the reason if that takes too long. A hanging effect is interrupted in the
 * background.
 */
export const withinDeadline = <A, E, R>(
  { at, millis }: Deadline,
  observed: Effect.Effect<A, E, R>,
  late: (reason: string) => A
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const limit = Math.min(millis, at - now)
    return limit <= 0
      ? Effect.sync(() => late("not asked: too many others did not answer in time"))
      : Effect.disconnect(observed).pipe(
        Effect.timeoutTo({
          duration: limit,
          onSuccess: (answer) => answer,
          onTimeout: () => late(`no answer within ${seconds(limit)}`)
        })
      )
  })
