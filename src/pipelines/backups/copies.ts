import { Path } from "@effect/platform"
import { Array, Data, Duration, Effect, Either, Fiber, Option, Stream } from "effect"
import {
  keepCopyCommand,
  listCopiesCommand,
  locateBackups,
  markCopiesCommand,
  nameItemFile,
  parseCopies,
  parseManifest,
  parseVerified,
  readCopyCommand,
  type RemoteBackup,
  type RemoteBackups,
  verifyBackupCommand,
  writeCopyCommand
} from "../../remote/backups.ts"
import { type Backup, type BackupCopy, type BackupVerified, nameCopyPlace } from "../../schema/backups.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import type { Stack } from "../../schema/stacks.ts"
import { formatBytes } from "../../schema/words.ts"
import { computeSha256, hashStream, keepLastBytes } from "../../services/bytes.ts"
import { LocalFiles, privateFile } from "../../services/local/LocalFiles.ts"
import { countBytes } from "../../services/runs/events.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { execute, makeCommandFailed, Ssh } from "../../services/ssh/Ssh.ts"
import { listStacksWith, spellInFull } from "../projects/places.ts"

/** A place of copies could not be read or written. */
class CopyFailed extends Data.TaggedError("CopyFailed")<{ readonly to: string; readonly reason: string }> {
  override get message() {
    return `${this.to}: ${this.reason}`
  }
}

/** A whole copy of a backup, under its name at its place. */
interface KeptCopy {
  readonly name: string
  readonly backup: RemoteBackup
}

type Needed = LocalFiles | Path.Path | Ssh

/** Directory of backups: copies elsewhere, or those of the stack itself. */
interface CopyPlace {
  readonly to: string
  /** Whole copies, newest first, and the bytes that are free. */
  readonly list: Effect.Effect<
    { readonly copies: ReadonlyArray<KeptCopy>; readonly free: number },
    CopyFailed,
    Needed
  >
  readonly read: (name: string, file: string) => Stream.Stream<Uint8Array, CopyFailed, Needed>
  readonly write: (
    name: string,
    file: string,
    bytes: Stream.Stream<Uint8Array, CopyFailed>
  ) => Effect.Effect<void, CopyFailed, Needed>
  /** Reads what was written again, and compares it with the hashes of the items. */
  readonly verify: (name: string, items: Backup["items"]) => Effect.Effect<BackupVerified, CopyFailed, Needed>
  /** Lists a copy whose files are written, and removes outdated ones. */
  readonly keep: (
    name: string,
    manifest: ReadonlyArray<string>,
    outdated: ReadonlyArray<string>
  ) => Effect.Effect<void, CopyFailed, Needed>
}

const manifestName = "manifest"
const longestPause = Duration.minutes(10)
const longestTransfer = Duration.hours(12)
const longestListing = Duration.seconds(20)
/** Bytes kept of the end of an error message. */
const mostWords = 4 * 1024

const failedAt = (to: string) => (error: { readonly message: string }) =>
  new CopyFailed({ to, reason: error.message.replace(/\.$/, "") })

const newestFirst = (copies: ReadonlyArray<KeptCopy>) =>
  copies.toSorted((one, other) => other.backup.takenAt.localeCompare(one.backup.takenAt))

const copyName = /^\d+-\d{8}T\d{6}Z$/

/** Name of a backup's copy: two backups of one number, before and after a server was lost, are apart. */
const nameCopy = ({ id, takenAt }: Pick<Backup, "id" | "takenAt">): string => `${id}-${takenAt.replaceAll(/[-:]/g, "")}`

const toKeptCopy = (name: string, lines: ReadonlyArray<string>): KeptCopy => ({
  name,
  backup: parseManifest(name.slice(0, name.indexOf("-")), lines)
})

/** Streams a file of a server; fails unless all of it came. */
const streamRemote = (server: ServerAccess, command: ReturnType<typeof readCopyCommand>) =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const process = yield* (yield* Ssh).spawn(server, command)
    const stderr = keepLastBytes(mostWords)
    const draining = yield* Effect.forkScoped(
      Stream.runForEach(process.stderr, (chunk) => Effect.sync(() => stderr.add(chunk)))
    )
    const checked = Effect.gen(function*() {
      const code = yield* process.exit
      yield* Fiber.await(draining)
      if (code !== 0) return yield* makeCommandFailed(server, command, code, stderr.text())
    })
    return Stream.concat(process.stdout, Stream.drain(Stream.fromEffect(checked)))
  }))

/** Directory on a server. */
const makeRemotePlace = (to: string, server: ServerAccess, root: string): CopyPlace => {
  const failed = failedAt(to)
  return {
    to,
    list: execute(server, listCopiesCommand(root)).pipe(
      Effect.timeoutFail({
        duration: longestListing,
        onTimeout: () => new CopyFailed({ to, reason: `"${server.name}" does not answer` })
      }),
      Effect.map(({ stdout }) => {
        const { freeKiB, manifests } = parseCopies(stdout)
        return {
          copies: newestFirst(manifests.map(({ lines, name }) => toKeptCopy(name, lines))),
          free: freeKiB * 1024
        }
      }),
      Effect.mapError(failed)
    ),
    read: (name, file) =>
      streamRemote(server, readCopyCommand(root, name, file)).pipe(
        Stream.mapError(failed),
        Stream.timeoutFail(
          () => new CopyFailed({ to, reason: `"${server.name}" sends nothing of ${file} any more` }),
          longestPause
        )
      ),
    write: (name, file, bytes) =>
      Effect.gen(function*() {
        const command = writeCopyCommand(root, name, file)
        const { code, stderr } = yield* (yield* Ssh).exec(server, command, { stdin: bytes, timeout: longestTransfer })
        if (code !== 0) return yield* makeCommandFailed(server, command, code, stderr)
      }).pipe(Effect.mapError((error) => error instanceof CopyFailed ? error : failed(error))),
    verify: (name, items) =>
      execute(server, verifyBackupCommand(root, name, items), { timeout: longestTransfer }).pipe(
        Effect.mapBoth({ onFailure: failed, onSuccess: ({ stdout }) => parseVerified(stdout) })
      ),
    keep: (name, manifest, outdated) =>
      execute(server, keepCopyCommand(root, name, manifest, outdated)).pipe(Effect.mapError(failed), Effect.asVoid)
  }
}

/** Directory of this machine. */
const makeLocalPlace = (to: string, root: string): CopyPlace => {
  const failed = failedAt(to)
  const isWhole = (name: string) =>
    Effect.gen(function*() {
      const path = yield* Path.Path
      return Option.isSome(yield* (yield* LocalFiles).find(path.join(root, name, manifestName)))
    })
  const names = Effect.gen(function*() {
    const files = yield* LocalFiles
    if (Option.isNone(yield* files.find(root))) return []
    return (yield* files.names(root)).flatMap(({ kind, name }) =>
      kind === "directory" && copyName.test(name) ? [name] : []
    )
  })
  const locate = (name: string, file: string) => Effect.map(Path.Path, (path) => path.join(root, name, file))
  return {
    to,
    list: Effect.gen(function*() {
      const files = yield* LocalFiles
      const path = yield* Path.Path
      const whole = yield* Effect.filter(yield* names, isWhole)
      const copies = yield* Effect.forEach(
        whole,
        (name) =>
          Effect.map(
            files.read(path.join(root, name, manifestName)),
            (bytes) => toKeptCopy(name, new TextDecoder().decode(bytes).split("\n"))
          )
      )
      yield* files.makeDirectory(root, { mode: privateFile.directoryMode })
      return { copies: newestFirst(copies), free: yield* files.freeBytes(root) }
    }).pipe(Effect.mapError(failed)),
    read: (name, file) =>
      Stream.unwrap(Effect.gen(function*() {
        return (yield* LocalFiles).stream(yield* locate(name, file))
      })).pipe(Stream.mapError(failed)),
    write: (name, file, bytes) =>
      Effect.gen(function*() {
        const files = yield* LocalFiles
        const path = yield* Path.Path
        // Left by a transfer that was interrupted.
        const left = yield* Effect.filter(yield* names, (other) => isWhole(other), { negate: true })
        yield* Effect.forEach(left.filter((other) => other !== name), (other) => files.remove(path.join(root, other)))
        yield* files.save(path.join(root, name, file), bytes, privateFile)
      }).pipe(Effect.mapError((error) => error instanceof CopyFailed ? error : failed(error))),
    verify: (name, items) =>
      Effect.gen(function*() {
        const files = yield* LocalFiles
        const found = yield* Effect.forEach(items, (item) =>
          Effect.gen(function*() {
            const file = yield* locate(name, nameItemFile(item.name))
            if (Option.isNone(yield* files.find(file))) return { name: item.name, state: "missing" as const }
            const isSame = (yield* files.sha256(file)) === item.sha256
            return { name: item.name, state: isSame ? "whole" as const : "changed" as const }
          }))
        return { whole: found.length > 0 && found.every(({ state }) => state === "whole"), items: found }
      }).pipe(Effect.mapError(failed)),
    keep: (name, manifest, outdated) =>
      Effect.gen(function*() {
        const files = yield* LocalFiles
        const path = yield* Path.Path
        yield* files.write(path.join(root, name, manifestName), [...manifest, ""].join("\n"), privateFile)
        yield* Effect.forEach(outdated, (old) => files.remove(path.join(root, old)))
      }).pipe(Effect.mapError(failed))
  }
}

/** Directory of a stack's copies: by the name of its server, so that one that is set up anew has those of the lost one. */
const nameStackCopies = ({ remotePath, server }: Stack): string => {
  const path = spellInFull(server.username, remotePath)
  const words = `${server.name}-${path.split("/").at(-1) ?? ""}`.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 80)
  return `${words}-${computeSha256(JSON.stringify([server.name, path])).slice(0, 12)}`
}

const openPlace = (stack: Stack, copy: BackupCopy) =>
  Effect.gen(function*() {
    const to = nameCopyPlace(copy)
    const settings = yield* Settings
    const directory = nameStackCopies(stack)
    if (copy.to === "here") {
      if (!settings.isLasting) {
        return yield* new CopyFailed({ to, reason: "the settings have no file, beside which it could be kept" })
      }
      return makeLocalPlace(to, (yield* Path.Path).join(settings.directory, "berth.backups", directory))
    }
    const server = yield* Effect.mapError(settings.server(to), failedAt(to))
    return makeRemotePlace(to, server, `${copy.path ?? ""}/${directory}`)
  })

/** Directory of a stack's own backups. */
const openOwn = ({ remotePath, server }: Stack) => makeRemotePlace(server.name, server, locateBackups(remotePath))

/**
 * Finds where the backups of a stack are copied to, as a project of this machine says: what the server itself says of it
 * must not lead to another one.
 */
export const findCopies = Effect.fn("backups.findCopies")(function*({ remotePath, server }: Stack) {
  const wanted = spellInFull(server.username, remotePath)
  const stacks = yield* listStacksWith(({ backups }) => (backups?.copies ?? []).length > 0)
  const found = stacks.find((stack) =>
    stack.serverId === server.id && spellInFull(server.username, stack.remotePath) === wanted
  )
  return found?.config.backups?.copies ?? []
})

/** Copies to remove beside the newest ones, but never the last one of an item. */
export const listOutdated = (
  copies: ReadonlyArray<{ readonly name: string; readonly backup: Pick<RemoteBackup, "items"> }>,
  keep: number
): ReadonlyArray<string> => {
  const newer = new Set<string>()
  return copies.flatMap(({ backup, name }, index) => {
    const isLast = backup.items.some((item) => !newer.has(item.name))
    for (const item of backup.items) newer.add(item.name)
    return index < keep || isLast ? [] : [name]
  })
}

/** Ends a stream that is longer than was announced. */
const limit = (most: number, file: string, to: string) => (bytes: Stream.Stream<Uint8Array, CopyFailed>) => {
  let passed = 0
  return Stream.tap(bytes, (chunk) => {
    passed += chunk.length
    return passed <= most ? Effect.void : new CopyFailed({ to, reason: `${file} is longer than its manifest says` })
  })
}

/** Bytes of a backup. */
export const sumBytes = ({ items }: Pick<Backup, "items">): number => items.reduce((sum, { bytes }) => sum + bytes, 0)

/** Fails without room for a backup at its place. */
const requireRoom = (place: CopyPlace, backup: Pick<Backup, "items">, free: number) =>
  sumBytes(backup) < free
    ? Effect.void
    : new CopyFailed({
      to: place.to,
      reason: `it needs ${formatBytes(sumBytes(backup))}, and ${formatBytes(free)} are free there`
    })

/** Copies the files of a backup from one place to another, and lists them there once they were compared by hash. */
const transfer = (
  step: "copy" | "fetch",
  from: { readonly place: CopyPlace; readonly name: string },
  into: { readonly place: CopyPlace; readonly name: string; readonly outdated: ReadonlyArray<string> },
  { items, manifest }: Pick<RemoteBackup, "items" | "manifest">
) =>
  Effect.gen(function*() {
    const { to } = into.place
    const count = yield* countBytes(step, sumBytes({ items }))
    const services = yield* Effect.context<Needed>()
    for (const { bytes, name, sha256 } of items) {
      const file = nameItemFile(name)
      const read = Stream.provideContext(from.place.read(from.name, file), services)
      const hashed = yield* hashStream(limit(bytes, file, from.place.to)(read))
      yield* into.place.write(into.name, file, count.passing(hashed.bytes))
      if ((yield* hashed.sha256) !== sha256) {
        const reason = `${name} is not what was written: its hash has changed`
        return yield* new CopyFailed({ to: from.place.to, reason })
      }
    }
    const verified = yield* into.place.verify(into.name, items)
    if (!verified.whole) {
      const bad = verified.items.flatMap(({ name, state }) => state === "whole" ? [] : [`${name} is ${state}`])
      return yield* new CopyFailed({ to, reason: `it did not arrive as it was sent: ${bad.join(", ")}` })
    }
    yield* into.place.keep(into.name, manifest, into.outdated)
  })

const copyTo = (stack: Stack, backup: RemoteBackup, copy: BackupCopy, keep: number) =>
  Effect.gen(function*() {
    const place = yield* openPlace(stack, copy)
    const { copies, free } = yield* place.list
    const name = nameCopy(backup)
    if (!copyName.test(name)) {
      return yield* new CopyFailed({ to: place.to, reason: "the time of the backup is unknown" })
    }
    if (copies.some((kept) => kept.name === name)) return
    yield* requireRoom(place, backup, free)
    const outdated = listOutdated(newestFirst([...copies, { name, backup }]), keep).filter((old) => old !== name)
    yield* transfer("copy", { place: openOwn(stack), name: backup.id }, { place, name, outdated }, backup)
  })

/** Result of copying a backup. */
export interface CopiedBackup {
  readonly done: ReadonlyArray<string>
  /** Places and reasons, in words. */
  readonly failures: ReadonlyArray<string>
}

/**
 * Copies a backup to each of its places, compares it there by hash, and notes it in the backup. A place that fails is a
 * result. The caller holds the deploy lock.
 */
export const copyBackup = Effect.fn("backups.copy")(function*(
  stack: Stack,
  backup: RemoteBackup,
  copies: ReadonlyArray<BackupCopy>,
  keep: number
) {
  const results = yield* Effect.forEach(
    copies,
    (copy) =>
      Effect.map(Effect.either(copyTo(stack, backup, copy, keep)), (result) => ({ to: nameCopyPlace(copy), result }))
  )
  const marks = results.map(({ result, to }) => ({ to, verified: Either.isRight(result) }))
  const marking = execute(stack.server, markCopiesCommand(stack.remotePath, backup.id, marks))
  const unmarked = yield* Effect.match(marking, {
    onSuccess: () => [],
    onFailure: ({ message }) => [message]
  })
  const copied: CopiedBackup = {
    done: marks.flatMap(({ to, verified }) => verified ? [to] : []),
    failures: [...results.flatMap(({ result }) => Either.isLeft(result) ? [result.left.message] : []), ...unmarked]
  }
  return copied
})

/** A backup of which the server has nothing, and its copy. */
export interface LostBackup {
  readonly backup: RemoteBackup
  readonly copy: BackupCopy
  readonly name: string
}

const isSame = (one: Pick<Backup, "id" | "takenAt">) => (other: Pick<Backup, "id" | "takenAt">) =>
  one.id === other.id && one.takenAt === other.takenAt

/**
 * Reads the places of copies, and tells which backups are where. One whose number another backup on the server has by
 * now is called by its copy's name.
 */
export const readCopies = Effect.fn("backups.readCopies")(function*(
  stack: Stack,
  { backups }: Pick<RemoteBackups, "backups">,
  copies: ReadonlyArray<BackupCopy>
) {
  const read = yield* Effect.forEach(copies, (copy) =>
    Effect.flatMap(openPlace(stack, copy), ({ list }) => list).pipe(
      Effect.either,
      Effect.map((listed) => ({ copy, to: nameCopyPlace(copy), listed }))
    ), { concurrency: "unbounded" })
  const kept = read.flatMap(({ copy, listed, to }) =>
    Either.isRight(listed) ? listed.right.copies.map((each) => ({ ...each, copy, to })) : []
  ).toSorted((one, other) => other.backup.takenAt.localeCompare(one.backup.takenAt))
  const unread = new Set(read.flatMap(({ listed, to }) => Either.isLeft(listed) ? [to] : []))
  const declared = new Set(copies.map(nameCopyPlace))
  /** Copies of a backup: of a place that could not be read, as the backup's manifest has them. */
  const listCopies = (backup: RemoteBackup): Backup["copies"] => [
    ...kept.flatMap(({ backup: other, to }) => isSame(backup)(other) ? [{ to, verified: true }] : []),
    ...backup.copies.filter(({ to, verified }) => unread.has(to) || !declared.has(to) || !verified)
      .filter(({ to }) => !kept.some((each) => each.to === to && isSame(backup)(each.backup)))
  ]
  const lost = Array.dedupeWith(
    kept.filter(({ backup }) => !backups.some(isSame(backup))),
    (one, other) => isSame(one.backup)(other.backup)
  ).map(({ backup, copy, name }, index, all): LostBackup => {
    const isTaken = [...backups, ...all.slice(0, index).map((each) => each.backup)].some(({ id }) => id === backup.id)
    return { copy, name, backup: { ...backup, id: isTaken ? name : backup.id } }
  })
  return {
    listCopies,
    lost,
    placesOf: ({ name }: LostBackup) =>
      kept.flatMap((each) => each.name === name ? [{ to: each.to, verified: true }] : []),
    warnings: read.flatMap(({ listed }) =>
      Either.isLeft(listed) ? [`Its copies could not be read: ${listed.left.message}`] : []
    )
  }
})

/** Brings a backup back to its server from a copy, under the first number that is free. Returns the number. */
export const bringBack = Effect.fn("backups.bringBack")(function*(
  stack: Stack,
  { backups }: Pick<RemoteBackups, "backups">,
  { backup, copy, name }: LostBackup
) {
  const place = yield* openPlace(stack, copy)
  const id = /^\d+$/.test(backup.id)
    ? backup.id
    : String(Math.max(...backups.map(({ id }) => Number(id))) + 1)
  const own = openOwn(stack)
  yield* requireRoom(own, backup, (yield* own.list).free)
  yield* transfer("fetch", { place, name }, { place: own, name: id, outdated: [] }, backup)
  return id
})
