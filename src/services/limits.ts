import { Deferred, Effect } from "effect"

const mebibyte = 1024 * 1024

/** Limit of concurrent use, per caller and in total; more are refused with 429. */
export interface ConcurrencyLimit {
  readonly each: number
  readonly all: number
}

/**
 * Limits of what a hostile archive, file, server or caller can make a service hold, write or keep busy. In bytes unless
 * stated otherwise. SECURITY.md lists them.
 */
export const capacity = {
  /** An image archive announces names before its content: a small one may unpack to gigabytes of them. */
  archive: {
    /** A name or the target of a link, in characters. */
    name: 4_096,
    /** Names and targets of all members together, in characters. */
    names: 16 * mebibyte,
    /** A header with a long name or further fields. */
    header: 64 * 1024,
    /** Number of members; there may be twice as many headers. */
    members: 100_000,
    /** Number of images, also in `index.json`, and of their layers together. */
    images: 500,
    layers: 10_000,
    /** Number of manifests in an image's index: one a platform. */
    manifests: 100,
    /** Number of archives that are read at a time: each may keep tens of megabytes of names. */
    readings: 1
  },
  /** A changelog or declaration that is shown, or read to be written again. */
  ownFile: 16 * mebibyte,
  /** Bytes that a server sends of a file without a size, and of all files of a pull beyond the sizes that it announced. */
  unannounced: 64 * mebibyte,
  /** Followed logs on one server; commands in its containers have as many places of their own. One caller gets half. */
  followers: { each: 8, all: 16 } satisfies ConcurrencyLimit
} as const

/** The event streams that a service serves: watchers of runs, and followers of logs. */
export const streamLimit: ConcurrencyLimit = { each: 100, all: 400 }

/** Unfinished runs of a process: in progress or queued. */
export const runLimit: ConcurrencyLimit = { each: 100, all: 400 }

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
