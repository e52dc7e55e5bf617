import { Deferred, Effect } from "effect"
import type { ConcurrencyLimit } from "../schema/basics.ts"

/** The limit is reached: by one caller, or by all without a `caller`. */
interface LimitReached {
  readonly most: number
  readonly caller?: string
}

export interface ConcurrencyLimiter {
  /** Takes one unit for a caller; the returned release is idempotent. */
  readonly take: (caller: string) => Effect.Effect<Effect.Effect<void>, LimitReached>
  /** Number of units in use. */
  readonly taken: () => number
}

/** Limits concurrent use, in total and for each caller, so that one caller cannot use up the total. */
export const makeConcurrencyLimiter = ({ all, each }: ConcurrencyLimit): ConcurrencyLimiter => {
  const owned = new Map<string, number>()
  let total = 0
  const change = (caller: string, by: 1 | -1) => {
    const now = (owned.get(caller) ?? 0) + by
    if (now === 0) owned.delete(caller)
    else owned.set(caller, now)
    total += by
  }
  return {
    taken: () => total,
    take: (caller) =>
      Effect.suspend(() => {
        if ((owned.get(caller) ?? 0) >= each) return Effect.fail({ most: each, caller })
        if (total >= all) return Effect.fail({ most: all })
        change(caller, 1)
        let isTaken = true
        return Effect.succeed(Effect.sync(() => {
          if (isTaken) change(caller, -1)
          isTaken = false
        }))
      })
  }
}

/**
 * Makes a value on first use, in a fiber of its own: interrupting the first caller does not affect the others, as it would
 * with `Effect.cached`.
 */
export const makeOnce = <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E>, never, R> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<R>()
    const made = yield* Deferred.make<A, E>()
    const begin = yield* Effect.once(Effect.forkDaemon(Effect.intoDeferred(Effect.provide(make, context), made)))
    return Effect.zipRight(Effect.uninterruptible(begin), Deferred.await(made))
  })
