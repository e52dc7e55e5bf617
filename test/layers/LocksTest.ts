import { Effect, Layer } from "effect"
import { Locks, LocksLive } from "../../src/services/locks/Locks.ts"

/** Locks within this process alone, for files that are no real ones. */
export const locksTest: Layer.Layer<Locks> = Layer.provide(
  Layer.effect(
    Locks,
    Effect.map(Locks, (locks) => Locks.of({ ...locks, withLock: ({ name, rank }) => locks.withLock({ name, rank }) }))
  ),
  LocksLive
)
