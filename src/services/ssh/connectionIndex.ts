import { Effect, FiberRef } from "effect"

/** Index of the work connection that an effect uses; 0 is the first, which everything else shares. */
export const connectionIndex = FiberRef.unsafeMake(0)

/** Has an effect use a connection for work of its own, where the index is not 0. */
export const withConnection = (index: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(effect, connectionIndex, index)
