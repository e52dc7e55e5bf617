import { Effect } from "effect"

interface Entry {
  readonly semaphore: Effect.Semaphore
  users: number
}

/** Mutual exclusion by name within this process, in the order of arrival. A name is forgotten with its last user. */
export const makeNamedLocks = Effect.sync(() => {
  const entries = new Map<string, Entry>()
  const enter = (name: string) =>
    Effect.sync(() => {
      const entry = entries.get(name) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
      entries.set(name, entry)
      entry.users += 1
      return entry
    })
  const leave = (name: string) => (entry: Entry) =>
    Effect.sync(() => {
      entry.users -= 1
      if (entry.users === 0) entries.delete(name)
    })
  return {
    withName: <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(enter(name), ({ semaphore }) => semaphore.withPermits(1)(effect), leave(name)),
    /** The names in use. */
    names: Effect.sync((): ReadonlyArray<string> => [...entries.keys()])
  }
})
