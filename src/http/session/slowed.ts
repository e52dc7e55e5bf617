import { Clock, Duration, Effect, Option, Ref } from "effect"
import type { Scope } from "effect"
import { ApiError } from "../api/ApiError.ts"

/** How many wrong attempts a minute are answered at once, and how many may wait for their answer at a time. */
export const freeAttempts = 3
export const mostWaiting = 16
const memory = Duration.toMillis("1 minute")
const firstWait = 250
const longestWait = 8_000

const waitFor = (failures: number): number =>
  failures <= freeAttempts ? 0 : Math.min(longestWait, firstWait * 2 ** (failures - freeAttempts - 1))

/**
 * Slows guessing down: each further wrong attempt within a minute waits longer for its answer, and while many wait the next
 * ones are turned away unread. Whoever breaks off does not wait any shorter. A right one never waits.
 */
export const makeSlowed: Effect.Effect<
  <A>(attempt: Effect.Effect<Option.Option<A>>) => Effect.Effect<Option.Option<A>, ApiError>,
  never,
  Scope.Scope
> = Effect.gen(function*() {
  const scope = yield* Effect.scope
  const failures = yield* Ref.make<ReadonlyArray<number>>([])
  const waiting = yield* Ref.make(0)
  return <A>(attempt: Effect.Effect<Option.Option<A>>) =>
    Effect.gen(function*() {
      if ((yield* Ref.get(waiting)) >= mostWaiting) {
        return yield* new ApiError({
          status: 429,
          message: "Too many wrong tokens were tried just now: try again in a few seconds",
          headers: { "retry-after": String(longestWait / 1_000) }
        })
      }
      const found = yield* attempt
      if (Option.isSome(found)) return found
      const now = yield* Clock.currentTimeMillis
      const recent = yield* Ref.updateAndGet(failures, (before) =>
        [...before.filter((at) => now - at < memory), now].slice(-100))
      const wait = waitFor(recent.length)
      if (wait === 0) {
        return found
      }
      const waited = yield* Ref.update(waiting, (count) =>
        count + 1).pipe(
          Effect.zipRight(Effect.sleep(wait)),
          Effect.ensuring(Ref.update(waiting, (count) => count - 1)),
          Effect.forkIn(scope)
        )
      yield* Effect.fromFiber(waited)
      return found
    })
})
