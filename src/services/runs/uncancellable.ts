import { Deferred, Effect, Fiber, FiberRef, Option } from "effect"

/** Signal that the run of a fiber has lost its ownership. */
const ownershipLost = FiberRef.unsafeMake(Option.none<Deferred.Deferred<never>>())

/** Ends even uncancellable parts of an effect once the signal fails: a peer may execute the same run by then. */
export const untilOwnershipLost =
  (signal: Deferred.Deferred<never>) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locally(effect, ownershipLost, Option.some(signal))

/** Completes an effect even when its caller is interrupted; time-outs within it still apply. */
export const uncancellable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(ownershipLost), (lost) => {
    const whole = Option.match(lost, {
      onNone: () => effect,
      onSome: (signal) =>
        Effect.if(Deferred.isDone(signal), {
          onTrue: () => Deferred.await(signal),
          onFalse: () => Effect.raceFirst(effect, Deferred.await(signal))
        })
    })
    return Effect.uninterruptible(Effect.flatMap(Effect.forkDaemon(Effect.interruptible(whole)), Fiber.join))
  })
