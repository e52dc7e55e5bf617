import { Path } from "@effect/platform"
import { Array, Effect, Either, Stream } from "effect"
import {
  locateBackups,
  markCopiesCommand,
  nameItemFile,
  type RemoteBackup,
  type RemoteBackups
} from "../../remote/backups.ts"
import { type Backup, type BackupCopy, nameCopyPlace } from "../../schema/backups.ts"
import type { Stack } from "../../schema/stacks.ts"
import { formatBytes } from "../../schema/words.ts"
import { computeSha256, hashStream } from "../../services/bytes.ts"
import { countBytes } from "../../services/runs/events.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { execute } from "../../services/ssh/Ssh.ts"
import { listStacksWith, spellInFull } from "../projects/places.ts"
import {
  CopyFailed,
  copyName,
  type CopyPlace,
  failedAt,
  makeLocalPlace,
  makeRemotePlace,
  nameCopy,
  newestFirst,
  openRestic,
  type PlaceServices
} from "./copyPlaces.ts"

export type { PlaceServices } from "./copyPlaces.ts"

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
    if (copy.to === "restic") return yield* openRestic(to, copy.repository ?? "", directory)
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
const sumBytes = ({ items }: Pick<Backup, "items">): number => items.reduce((sum, { bytes }) => sum + bytes, 0)

/** Size of a backup in words. */
export const formatSize = (backup: Pick<Backup, "items">): string => formatBytes(sumBytes(backup))

/** Fails without room for a backup at its place. */
const requireRoom = (place: CopyPlace, backup: Pick<Backup, "items">, free: number) =>
  sumBytes(backup) < free
    ? Effect.void
    : new CopyFailed({
      to: place.to,
      reason: `it needs ${formatSize(backup)}, and ${formatBytes(free)} are free there`
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
    const services = yield* Effect.context<PlaceServices>()
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
    const { copies, free } = yield* place.list([backup], false)
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

/** True for two records of one backup: its number is another one where it was brought back beside a newer one. */
const isSame = (one: Pick<Backup, "items" | "takenAt">) => (other: Pick<Backup, "items" | "takenAt">) =>
  one.takenAt === other.takenAt && one.items.length === other.items.length &&
  one.items.every(({ sha256 }, index) => sha256 === other.items[index]?.sha256)

/**
 * Reads the places of copies, and tells which backups are where. One whose number another backup on the server has by
 * now is called by its copy's name.
 */
export const readCopies = Effect.fn("backups.readCopies")(function*(
  stack: Stack,
  { backups }: Pick<RemoteBackups, "backups">,
  copies: ReadonlyArray<BackupCopy>
) {
  const read = yield* Effect.forEach(
    copies,
    (copy) =>
      Effect.flatMap(openPlace(stack, copy), ({ list }) => list(backups, true)).pipe(
        Effect.either,
        Effect.map((listed) => ({ copy, to: nameCopyPlace(copy), listed }))
      ),
    { concurrency: "unbounded" }
  )
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

/** Brings a backup back to its server from a copy, under its number if that is free, else the next. Returns the number. */
export const bringBack = Effect.fn("backups.bringBack")(function*(
  stack: Stack,
  { backups }: Pick<RemoteBackups, "backups">,
  { backup, copy, name }: LostBackup
) {
  const place = yield* openPlace(stack, copy)
  const id = /^\d+$/.test(backup.id)
    ? backup.id
    : String(Math.max(0, ...backups.map(({ id }) => Number(id))) + 1)
  const own = openOwn(stack)
  yield* requireRoom(own, backup, (yield* own.list([], false)).free)
  yield* transfer("fetch", { place, name }, { place: own, name: id, outdated: [] }, backup)
  return id
})
