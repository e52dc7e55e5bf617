import { Duration, Effect, Schedule } from "effect"
import type { UpstreamFailure } from "../../schema/basics/Upstream.ts"

const longestWait = Duration.seconds(10)

/** `Retry-After` in milliseconds from now: a number of seconds, or a date. */
export const parseRetryAfter = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ""
  if (text === "") return undefined
  const millis = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isFinite(millis) ? Math.max(0, millis) : undefined
}

/** True when a retry may help. Timeouts are not retried: the caller has waited long enough. */
const isTransient = (error: UpstreamFailure): boolean => {
  switch (error._tag) {
    case "UpstreamUnavailable":
      return error.transport
    case "UpstreamRefused":
      return error.upstream === 429 || error.upstream >= 500
    default:
      return false
  }
}

/** Retries twice, after about 200 and 400 ms, or after the requested pause if it is longer, up to 10 s. */
const schedule = Schedule.identity<UpstreamFailure>().pipe(
  Schedule.intersect(Schedule.jittered(Schedule.exponential(Duration.millis(200)))),
  Schedule.intersect(Schedule.recurs(2)),
  Schedule.modifyDelay(([[error]], delay) =>
    error._tag === "UpstreamRefused" && error.retryAfter !== undefined
      ? Duration.max(delay, Duration.min(Duration.millis(error.retryAfter), longestWait))
      : delay
  )
)

/** Retries a call that changes nothing if its failure was transient. */
export const retryTransient = <A, R>(
  call: Effect.Effect<A, UpstreamFailure, R>
): Effect.Effect<A, UpstreamFailure, R> => Effect.retry(call, { schedule, while: isTransient })
