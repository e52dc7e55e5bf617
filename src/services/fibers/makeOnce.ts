import { Deferred, Effect } from "effect"

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
