import { Effect, FiberRef } from "effect"

/** Work connection that an effect uses; 0 is the first, which everything else shares. */
export const workPlace = FiberRef.unsafeMake(0)

/** Has an effect use a connection for work of its own, where the place is not 0. */
export const overConnection = (place: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(effect, workPlace, place)
