import { Context, Effect, Layer, Schema } from "effect"
import { withFileLock } from "./fileLock.ts"
import type { LockKey } from "./LockKey.ts"
import { makeNamedLocks } from "./namedLocks.ts"

/** A file cannot be locked: another process of this machine keeps it, or there is no place for the lock. */
export class FileLocked extends Schema.TaggedError<FileLocked>()("FileLocked", {
  file: Schema.String,
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `${this.file} cannot be locked: ${this.reason}`
  }
}

/** Mutual exclusion by key: fair within this process, and between processes for keys that name a file. */
export class Locks extends Context.Tag("berth/Locks")<Locks, {
  /** Runs the effect while no other holder of the key runs; interruption and failure give the lock back. */
  readonly withLock: (
    key: LockKey
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | FileLocked, R>
}>() {}

const make = Effect.map(makeNamedLocks, ({ withName }) =>
  Locks.of({
    withLock: ({ file, name }) => (effect) =>
      withName(
        name,
        file === undefined ? effect : withFileLock(file, (reason) => new FileLocked({ file, reason }))(effect)
      )
  }))

/** Locks of this process, and lock directories (`<file>.lock`) beside locked files. */
export const LocksLive = Layer.effect(Locks, make)
