import { Effect, FiberRef } from "effect"

/** Which of a server's connections for work an effect uses: the first, which all else shares, is 0. */
export const workPlace = FiberRef.unsafeMake(0)

/** Has an effect use a connection for work of its own, where the place is not 0. */
export const overConnection = (place: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(effect, workPlace, place)
