import { Clock, Effect, Option } from "effect"
import { mkdir, rmdir, stat, utimes } from "node:fs/promises"
import { readErrorCode } from "../local/readErrorCode.ts"

// The lock of a file is a directory beside it: mkdir is atomic on every file system. The holder renews its modification
// time every second. A lock is stale when that time is old, or, after a clock was set back, does not change.
const renewal = "1 second"
const staleMillis = 5_000
const longestWait = 30_000
const pause = "20 millis"
// Errors of mkdir while Windows is still removing a directory of the same name.
const beingRemoved = process.platform === "win32" ? ["EPERM", "EACCES", "EBUSY"] : []

/** Identity of a lock directory, which tells it from a later one of the same name. */
export interface Lock {
  readonly directory: string
  readonly inode: bigint
  readonly modified: bigint
}

/** Calls the file system; fails with the code of the error. */
const call = <A>(run: () => Promise<A>): Effect.Effect<A, string> =>
  Effect.tryPromise({ try: run, catch: (cause) => readErrorCode(cause) || String(cause) })

export const readLock = (directory: string): Effect.Effect<Lock, string> =>
  Effect.map(
    call(() => stat(directory, { bigint: true })),
    ({ ino, mtimeNs }) => ({ directory, inode: ino, modified: mtimeNs })
  )

const remove = (directory: string) => Effect.ignore(call(() => rmdir(directory)))

const stillThere = (lock: Lock) =>
  Effect.map(
    Effect.option(readLock(lock.directory)),
    Option.exists(({ inode, modified }) => inode === lock.inode && modified === lock.modified)
  )

const removeIfSame = (lock: Lock) => Effect.asVoid(Effect.whenEffect(remove(lock.directory), stillThere(lock)))

const isStale = ({ modified }: Lock) =>
  Effect.map(Clock.currentTimeMillis, (now) => now - Number(modified / 1_000_000n) > staleMillis)

/** Measures the time for which a watched lock was not renewed, independently of clocks. */
export const watch = () => {
  let seen: Lock | undefined
  let since = 0
  return (lock: Lock): number => {
    const now = performance.now()
    if (seen === undefined || seen.inode !== lock.inode || seen.modified !== lock.modified) {
      seen = lock
      since = now
    }
    return now - since
  }
}

/**
 * Removes a stale lock, under a lock of its own and only if it is still the same: otherwise the slower of two processes
 * would remove the new lock of the faster one.
 */
export const breakStale = (lock: Lock, unchanged = 0) => {
  const breaking = `${lock.directory}-${lock.inode}-${lock.modified}`
  return Effect.matchEffect(call(() => mkdir(breaking)), {
    onFailure: () =>
      Effect.ignore(Effect.flatMap(readLock(breaking), (other) =>
        Effect.whenEffect(
          removeIfSame(other),
          // The process that was removing it died as well.
          unchanged > 2 * staleMillis ? Effect.succeed(true) : isStale(other)
        ))),
    onSuccess: () => Effect.ensuring(removeIfSame(lock), remove(breaking))
  })
}

/** Tries once to take the lock; none while it is held. */
const attempt = (directory: string, unchangedFor: (lock: Lock) => number): Effect.Effect<Option.Option<Lock>, string> =>
  call(() => mkdir(directory)).pipe(
    Effect.zipRight(Effect.asSome(readLock(directory))),
    Effect.catchIf((code) => code === "EEXIST", () =>
      Effect.gen(function*() {
        const holder = yield* Effect.option(readLock(directory))
        if (Option.isNone(holder)) return Option.none()
        const unchanged = unchangedFor(holder.value)
        if (unchanged > staleMillis || (yield* isStale(holder.value))) yield* breakStale(holder.value, unchanged)
        return Option.none()
      })),
    Effect.catchIf((code) => beingRemoved.includes(code), () => Effect.succeedNone)
  )

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Takes the lock, with retries for up to half a minute; waiting is interruptible. */
const take = (directory: string, restore: Restore) =>
  Effect.gen(function*() {
    const begun = performance.now()
    const unchangedFor = watch()
    while (true) {
      const taken = yield* attempt(directory, unchangedFor)
      if (Option.isSome(taken)) return taken.value
      if (performance.now() - begun > longestWait) return yield* Effect.fail("EEXIST")
      yield* restore(Effect.sleep(pause))
    }
  })

/** Renews the lock; fails when it was lost: the machine was suspended, or the directory removed. */
const renew = (held: { lock: Lock }): Effect.Effect<never, string> =>
  Effect.gen(function*() {
    if (!(yield* stillThere(held.lock))) return yield* Effect.fail("LOST")
    const now = new Date(yield* Clock.currentTimeMillis)
    yield* Effect.ignore(call(() => utimes(held.lock.directory, now, now)))
    const renewed = yield* Effect.option(readLock(held.lock.directory))
    if (Option.isNone(renewed) || renewed.value.inode !== held.lock.inode) return yield* Effect.fail("LOST")
    held.lock = renewed.value
  }).pipe(Effect.uninterruptible, Effect.delay(renewal), Effect.forever)

const words: Readonly<Record<string, string>> = {
  EACCES: "the directory cannot be written",
  EEXIST: "another process has been using it for half a minute; try again when it is done",
  ENOENT: "the directory does not exist",
  ENOTDIR: "the directory does not exist",
  EROFS: "the file system is read-only",
  LOST: "the lock was lost while it was held; what ran under it was stopped"
}

/**
 * Executes an effect under the lock of a file, which need not exist. Fails when the lock cannot be taken within half a
 * minute, or is lost.
 */
export const withFileLock = <F>(file: string, failed: (reason: string, busy: boolean) => F) => {
  const directory = `${file}.lock`
  const inWords = Effect.mapError((code: string) =>
    failed(`${words[code] ?? code} (the lock is the directory ${directory})`, code === "EEXIST")
  )
  // File systems use real time, even under a test clock.
  const inRealTime = Effect.withClock(Clock.make())
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | F, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const held = { lock: yield* inWords(inRealTime(take(directory, restore))) }
        const guarded = Effect.raceFirst(effect, inWords(inRealTime(renew(held))))
        return yield* Effect.ensuring(restore(guarded), Effect.suspend(() => removeIfSame(held.lock)))
      })
    )
}
