import { Context, Effect, FiberRef, Layer, Ref, Schema } from "effect"
import { formatMachineAddress, type MachineAddress } from "../../schema/servers.ts"
import type { Stack } from "../../schema/stacks.ts"
import type { Repository } from "../../schema/webhooks.ts"
import { formatLockFile, lockDirectory, prepare, withFileLock } from "./fileLock.ts"

/**
 * Name of a lock. Several locks are taken in the order of their `rank`, which prevents deadlocks: taking one while holding
 * another of the same or a higher rank is a defect.
 */
export interface LockKey {
  readonly rank: number
  readonly name: string
  /** Local file that the lock also protects from other processes of this machine. */
  readonly file?: string
  /**
   * Description of a lock that also excludes the user's other processes: a script, a command and a service side by
   * side.
   */
  readonly shared?: string
}

/** Serializes upserts of an application. */
export const makeApplicationLock = (platformUrl: string, name: string): LockKey => ({
  rank: 1,
  name: `app ${platformUrl} ${name}`,
  shared: `The application "${name}"`
})

/** Serializes deploys of a project to its targets; held while the deploys that it starts hold their remote paths. */
export const makeTargetsLock = (projectDirectory: string): LockKey => ({
  rank: 0.5,
  name: `targets ${projectDirectory}`
})

/** Serializes deploys to a directory of a server. */
export const makeRemotePathLock = ({ remotePath, server }: Stack): LockKey => ({
  rank: 1,
  name: `path ${formatMachineAddress(server)} ${remotePath}`
})

/** Places for concurrent deploys to a server: `deploysAtOnce`. */
export const makeDeploySlots = (server: MachineAddress): LockKey => ({
  rank: 2,
  name: `deploy ${formatMachineAddress(server)}`
})

/** Allows one pull from a server at a time, since its channels are limited. */
export const makePullLock = (server: MachineAddress): LockKey => ({
  rank: 1,
  name: `pull ${formatMachineAddress(server)}`,
  shared: `Pulling from ${formatMachineAddress(server)}`
})

/** Serializes clean-ups of a server. */
export const makePruneLock = (server: MachineAddress): LockKey => ({
  rank: 1,
  name: `prune ${formatMachineAddress(server)}`,
  shared: `Cleaning up ${formatMachineAddress(server)}`
})

/** Serializes builds of a project; a deploy that builds first holds its remote path meanwhile. */
export const makeBuildLock = (projectDirectory: string): LockKey => ({
  rank: 1.5,
  name: `build ${projectDirectory}`,
  shared: `The build of ${projectDirectory}`
})

/** Serializes edits of a proxy file, under any id of its server. A bridged deploy holds it for each of its edits. */
export const makeProxyLock = (server: MachineAddress, configFile: string): LockKey => ({
  rank: 3,
  name: `proxy ${formatMachineAddress(server)} ${configFile}`,
  shared: `The proxy file ${configFile} on ${formatMachineAddress(server)}`
})

/** Serializes appends to a project's changelog. */
export const makeChangelogLock = (changelogFile: string): LockKey => ({
  rank: 3,
  name: `file ${changelogFile}`,
  file: changelogFile
})

/** Serializes edits of a project's `platform.json`. */
export const makeProjectFileLock = (file: string): LockKey => ({ rank: 3, name: `file ${file}`, file })

/** Serializes adoptions into a directory, which has to be empty. */
export const makeAdoptionLock = (projectDirectory: string): LockKey => ({
  rank: 3,
  name: `adoption ${projectDirectory}`,
  shared: `The adoption into ${projectDirectory}`
})

/** Serializes edits of the settings file. */
export const makeSettingsLock = (settingsFile: string): LockKey => ({
  rank: 4,
  name: `file ${settingsFile}`,
  file: settingsFile
})

/** Serializes changes of the record of confirmed settings files; every edit of such a file changes it. */
export const makeConfirmationsLock = (noteFile: string): LockKey => ({
  rank: 5,
  name: `file ${noteFile}`,
  file: noteFile
})

/** Lock that serializes changes of the known host keys. */
export const makeHostKeysLock = (knownHostsFile: string): LockKey => ({
  rank: 5,
  name: `file ${knownHostsFile}`,
  file: knownHostsFile
})

/** Lock that serializes changes of what the user of this machine trusts. */
export const makeTrustLock = (trustFile: string): LockKey => ({
  rank: 5,
  name: `file ${trustFile}`,
  file: trustFile
})

/** Serializes reads and changes of a repository's hooks. */
export const makeHooksLock = ({ name, owner }: Repository): LockKey => ({
  rank: 6,
  name: `hooks ${owner.toLowerCase()}/${name.toLowerCase()}`,
  shared: `The webhooks of ${owner}/${name}`
})

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
    const isPrepared = yield* Ref.make(false)
    const failure = yield* Ref.make("")
    // Without a usable directory, for example without a home directory, locks apply within this process only. The next
    // one tries again.
    const hasDirectory = Effect.gen(function*() {
      if (yield* Ref.get(isPrepared)) return true
      yield* prepare(directory)
      yield* Ref.set(isPrepared, true)
      return true
    }).pipe(
      Effect.catchAll(({ message }) =>
        Effect.flatMap(Ref.getAndSet(failure, message), (before) =>
          before === message ? Effect.succeed(false) : Effect.as(
            Effect.logWarning(`Other processes are not locked out, as ${directory} cannot be used: ${message}`),
            false
          ))
      )
    )
    const locked = (subject: string, file: string) =>
      withFileLock(
        { file, subject, canMakeParent: subject !== file },
        (reason, busy) =>
          new FileLocked({ file: subject, reason, busy })
      )
    const between = ({ file, name, shared }: LockKey) => <A, E, R>(effect: Effect.Effect<A, E, R>) => {
      if (file !== undefined) {
        return locked(file, file)(effect)
      }
      return shared === undefined ? effect : Effect.flatMap(
        hasDirectory,
        (has) =>
          has ? locked(shared, formatLockFile(directory, name))(effect) : effect
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
