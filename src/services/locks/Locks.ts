import { Context, Effect, FiberRef, Layer, Schema } from "effect"
import { makeOnce } from "../fibers/makeOnce.ts"
import { withFileLock } from "./fileLock.ts"
import { formatLockFile, lockDirectory, prepare } from "./lockDirectory.ts"
import type { LockKey } from "./LockKey.ts"
import { makeNamedLocks } from "./namedLocks.ts"

/** A lock cannot be taken: another process holds it (`busy`), or its directory cannot be used. */
export class FileLocked extends Schema.TaggedError<FileLocked>()("FileLocked", {
  file: Schema.String,
  reason: Schema.String,
  busy: Schema.Boolean
}) {
  get status() {
    return this.busy ? 409 : 500
  }
  override get message() {
    return `${this.file} cannot be locked: ${this.reason}`
  }
}

/** Mutual exclusion by key: fair within this process, and between processes for keys that name a file or are shared. */
export class Locks extends Context.Tag("berth/Locks")<Locks, {
  /**
   * Executes an effect under the lock of a key. Taking it while a lock of the same or a higher rank is held is a
   * defect.
   */
  readonly withLock: (
    key: LockKey
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | FileLocked, R>
  /**
   * Executes an effect in the lowest free place of a key, within this process alone. Ranks apply as to locks. `waiting`
   * is executed first if all places are taken.
   */
  readonly withPlace: <R2>(
    key: LockKey,
    options: { readonly places: number; readonly waiting: Effect.Effect<void, never, R2> }
  ) => <A, E, R>(use: (place: number) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | R2>
}>() {}

/** Locks that a fiber holds, or inherits from its parent. */
const held = FiberRef.unsafeMake<ReadonlyArray<LockKey>>([])

const inOrder = (key: LockKey) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(held), (before) => {
    const above = before.find(({ rank }) => rank >= key.rank)
    return above === undefined
      ? Effect.locally(effect, held, [...before, key])
      : Effect.dieMessage(
        `"${key.name}" (rank ${key.rank}) is locked while "${above.name}" (rank ${above.rank}) is held`
      )
  })

/** @param directory contains the locks shared by the user's processes */
const make = (directory: string) =>
  Effect.gen(function*() {
    const { withName, withPlace } = yield* makeNamedLocks
    // Without a usable directory, for example without a home directory, locks apply within this process only.
    const hasDirectory = yield* makeOnce(
      prepare(directory).pipe(
        Effect.as(true),
        Effect.catchAll(({ message }) =>
          Effect.as(
            Effect.logWarning(`Other processes are not locked out, as ${directory} cannot be used: ${message}`),
            false
          )
        )
      )
    )
    const locked = (what: string, file: string) =>
      withFileLock(file, (reason, busy) => new FileLocked({ file: what, reason, busy }))
    const between = ({ file, name, shared }: LockKey) => <A, E, R>(effect: Effect.Effect<A, E, R>) => {
      if (file !== undefined) return locked(file, file)(effect)
      return shared === undefined ? effect : Effect.flatMap(
        hasDirectory,
        (has) => has ? locked(shared, formatLockFile(directory, name))(effect) : effect
      )
    }
    return Locks.of({
      withLock: (key) => (effect) => inOrder(key)(withName(key.name, between(key)(effect))),
      withPlace: (key, options) => (use) => inOrder(key)(withPlace(key.name, options, use))
    })
  })

/** Locks whose shared part is in the given directory. */
export const locksLayer = (directory: string): Layer.Layer<Locks> => Layer.effect(Locks, make(directory))

/** Locks of this process; lock directories (`<file>.lock`) beside locked files, and in the user's state directory. */
export const LocksLive: Layer.Layer<Locks> = Layer.unwrapEffect(Effect.map(lockDirectory, locksLayer))
