import { Duration, Effect, Random } from "effect"

/** Time for which a notification is tried again. */
export const retryTime = Duration.hours(1)
/** Time that a process has for one attempt before another one may take it. */
export const lease = Duration.seconds(30)

const firstPause = 1_000
// A receiver that is back hears of it soon.
const longestPause = 30_000
const longestAsked = 5 * 60_000

/**
 * Pause after so many attempts: it doubles from a second to half a minute, give or take a fifth, so that the
 * notifications of an outage do not come back at one moment. A receiver may ask for a longer one.
 */
export const pauseAfter = (attempts: number, asked = 0): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.nextRange(0.8, 1.2), (jitter) => {
    const pause = Math.min(longestPause, firstPause * 2 ** Math.min(attempts - 1, 10)) * jitter
    return Duration.millis(Math.round(Math.max(pause, Math.min(asked, longestAsked))))
  })
