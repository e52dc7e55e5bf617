import { Clock, Config, Effect, Option } from "effect"
import { createHash } from "node:crypto"
import { mkdir, readdir, rmdir, stat, utimes } from "node:fs/promises"
import { dirname, isAbsolute, join } from "node:path"
import { formatTimeOfDay } from "../../schema/words.ts"
import { readErrorCode } from "../local/LocalFiles.ts"
import { resolveHomeDirectory } from "../local/user.ts"

// The lock of a file is a directory beside it: mkdir is atomic on every file system. The holder renews its modification
// time every second. A lock is stale when that time is old, or, after a clock was set back, does not change.
const renewal = "1 second"
const staleMillis = 5_000
const longestWait = 30_000
/** Longest silence of a process that waits for a lock. */
const noticeMillis = 1_500
const pause = "20 millis"
// Errors of mkdir while Windows is still removing a directory of the same name.
const beingRemoved = process.platform === "win32" ? ["EPERM", "EACCES", "EBUSY"] : []

/** Identity of a lock directory, which tells it from a later one of the same name. */
interface Lock {
  readonly directory: string
  readonly inode: bigint
  readonly modified: bigint
  /** Time of its creation, by which its holder took it; zero where the file system does not record it. */
  readonly created: bigint
}

/** Calls the file system; fails with the code of the error. */
const call = <A>(run: () => Promise<A>): Effect.Effect<A, string> =>
  Effect.tryPromise({ try: run, catch: (cause) => readErrorCode(cause) || String(cause) })

export const readLock = (directory: string): Effect.Effect<Lock, string> =>
  Effect.map(
    call(() => stat(directory, { bigint: true })),
    ({ birthtimeMs, ino, mtimeNs }) => ({ directory, inode: ino, modified: mtimeNs, created: birthtimeMs })
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
const watch = () => {
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

/** Creates the directory of a lock, and first its parent if that is missing and may be created. */
const make = (directory: string, canMakeParent: boolean) =>
  call(() => mkdir(directory)).pipe(
    Effect.catchIf(
      (code) => canMakeParent && code === "ENOENT",
      () => call(() => mkdir(dirname(directory), { recursive: true, mode: 0o700 }).then(() => mkdir(directory)))
    )
  )

/** Tries once to take the lock; none while it is held. */
const attempt = (
  directory: string,
  canMakeParent: boolean,
  unchangedFor: (lock: Lock) => number
): Effect.Effect<Option.Option<Lock>, string> =>
  make(directory, canMakeParent).pipe(
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

/** Says for what a process waits, since when that is in use, and for how long it waits. */
const describeWait = (subject: string, directory: string) =>
  Effect.gen(function*() {
    const holder = yield* Effect.option(readLock(directory))
    const taken = Option.match(holder, { onNone: () => 0, onSome: ({ created }) => Number(created) })
    const since = taken > 0 ? `, since ${formatTimeOfDay(new Date(taken))}` : ""
    yield* Effect.logWarning(`Waiting for another berth: ${subject}${since}; for half a minute at most`)
  })

/** Takes the lock, with retries for up to half a minute; waiting is interruptible. */
const take = (subject: string, directory: string, canMakeParent: boolean, restore: Restore) =>
  Effect.gen(function*() {
    const begun = performance.now()
    const unchangedFor = watch()
    let isNoticed = false
    while (true) {
      const taken = yield* attempt(directory, canMakeParent, unchangedFor)
      if (Option.isSome(taken)) return taken.value
      const waited = performance.now() - begun
      if (waited > longestWait) return yield* Effect.fail("EEXIST")
      if (waited > noticeMillis && !isNoticed) {
        isNoticed = true
        yield* describeWait(subject, directory)
      }
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
  ENOSPC: "no space left on the disk",
  ENOTDIR: "the directory does not exist",
  EROFS: "the file system is read-only",
  LOST: "the lock was lost while it was held; what ran under it was stopped"
}

/**
 * Executes an effect under the lock of a file, which need not exist. Fails when the lock cannot be taken within half a
 * minute, or is lost.
 * @param canMakeParent if true, the directory of the file is created where it is missing
 */
export const withFileLock = <F>(
  { canMakeParent = false, file, subject = file }: {
    readonly file: string
    /** Description for those that wait. */
    readonly subject?: string
    readonly canMakeParent?: boolean
  },
  failed: (reason: string, busy: boolean) => F
) => {
  const directory = `${file}.lock`
  const inWords = Effect.mapError((code: string) =>
    failed(`${words[code] ?? code} (the lock is the directory ${directory})`, code === "EEXIST")
  )
  // File systems use real time, even under a test clock.
  const inRealTime = Effect.withClock(Clock.make())
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | F, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const held = { lock: yield* inWords(inRealTime(take(subject, directory, canMakeParent, restore))) }
        // Interruptible also within a finalizer, which would wait for the renewal otherwise.
        const guarded = Effect.raceFirst(effect, inWords(inRealTime(Effect.interruptible(renew(held)))))
        return yield* Effect.ensuring(restore(guarded), Effect.suspend(() => removeIfSame(held.lock)))
      })
    )
}

/** Locks are renewed every second: older ones were left by killed processes. */
const forgottenMillis = 60 * 60 * 1000

const under = (variable: string) => Config.option(Config.nonEmptyString(variable))

/**
 * Directory of the locks shared by all processes of a user: `berth/locks` in `XDG_STATE_HOME` or `~/.local/state`, on
 * Windows in `LOCALAPPDATA`.
 */
export const lockDirectory: Effect.Effect<string> = under(
  process.platform === "win32" ? "LOCALAPPDATA" : "XDG_STATE_HOME"
).pipe(
  Effect.orElseSucceed(() => Option.none<string>()),
  // A relative path is ignored: it would depend on the working directory.
  Effect.map(Option.filter(isAbsolute)),
  Effect.map(Option.getOrElse(() => join(resolveHomeDirectory(), ".local", "state"))),
  Effect.map((state) => join(state, "berth", "locks"))
)

/** Path of the lock file for a name of any length and any characters. */
export const formatLockFile = (directory: string, name: string): string =>
  join(directory, createHash("sha256").update(name).digest("hex").slice(0, 32))

/** Creates the directory, private to its user, and removes locks of killed processes. */
export const prepare = (directory: string): Effect.Effect<void, Error> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const old = Date.now() - forgottenMillis
      for (const name of await readdir(directory)) {
        const lock = join(directory, name)
        const isOld = await stat(lock).then(({ mtimeMs }) => mtimeMs < old, () => false)
        if (isOld) await rmdir(lock).catch(() => undefined)
      }
    },
    catch: (cause) => cause instanceof Error ? cause : new Error(String(cause))
  })
