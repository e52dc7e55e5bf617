import { Deferred, Effect } from "effect"

/**
 * Makes something when it is first used, for all who use it; who breaks off takes it from nobody. It is made in a fiber
 * of its own: `Effect.cached` would hand on to all others that its first caller was interrupted.
 */
export const madeOnce = <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E>, never, R> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<R>()
    const made = yield* Deferred.make<A, E>()
    const begin = yield* Effect.once(Effect.forkDaemon(Effect.intoDeferred(Effect.provide(make, context), made)))
    return Effect.zipRight(Effect.uninterruptible(begin), Deferred.await(made))
  })
