import { Effect } from "effect"

interface Entry {
  readonly semaphore: Effect.Semaphore
  /** Free places in ascending order. */
  readonly free: Array<number>
  users: number
}

/**
 * Mutual exclusion by name within this process, first come first served, and names with several places. A name is
 * removed with its last user.
 */
export const makeNamedLocks = Effect.sync(() => {
  const entries = new Map<string, Entry>()
  const enter = (name: string, places: number) =>
    Effect.sync(() => {
      const entry = entries.get(name) ?? {
        semaphore: Effect.unsafeMakeSemaphore(places),
        free: Array.from({ length: places }, (_, place) => place),
        users: 0
      }
      entries.set(name, entry)
      entry.users += 1
      return entry
    })
  const leave = (name: string) => (entry: Entry) =>
    Effect.sync(() => {
      entry.users -= 1
      if (entry.users === 0) entries.delete(name)
    })
  const take = ({ free }: Entry) => Effect.sync(() => free.shift() ?? 0)
  const giveBack = ({ free }: Entry) => (place: number) =>
    Effect.sync(() => {
      free.push(place)
      free.sort((one, other) => one - other)
    })
  const withPlace = <A, E, R, R2>(
    name: string,
    { places, waiting }: { readonly places: number; readonly waiting: Effect.Effect<void, never, R2> },
    use: (place: number) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R | R2> =>
    Effect.acquireUseRelease(
      enter(name, places),
      (entry) =>
        Effect.zipRight(
          entry.users > places ? waiting : Effect.void,
          entry.semaphore.withPermits(1)(Effect.acquireUseRelease(take(entry), use, giveBack(entry)))
        ),
      leave(name)
    )
  return {
    withName: <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      withPlace(name, { places: 1, waiting: Effect.void }, () => effect),
    /** Passes the lowest free place of a name to `use`; `waiting` is executed first if none is free. */
    withPlace,
    /** Names in use. */
    names: Effect.sync((): ReadonlyArray<string> => [...entries.keys()])
  }
})
