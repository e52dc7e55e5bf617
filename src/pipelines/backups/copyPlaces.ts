import { Path } from "@effect/platform"
import { Data, Duration, Effect, Fiber, Option, Stream } from "effect"
import {
  keepCopyCommand,
  listCopiesCommand,
  nameItemFile,
  parseCopies,
  parseManifest,
  parseVerified,
  readCopyCommand,
  type RemoteBackup,
  verifyBackupCommand,
  writeCopyCommand
} from "../../remote/backups.ts"
import type { Backup, BackupVerified } from "../../schema/backups.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import { keepLastBytes } from "../../services/bytes.ts"
import { LocalFiles, privateFile } from "../../services/local/LocalFiles.ts"
import type { LocalProcesses } from "../../services/local/LocalProcesses.ts"
import { execute, makeCommandFailed, Ssh } from "../../services/ssh/Ssh.ts"

/** A place of copies could not be read or written. */
export class CopyFailed extends Data.TaggedError("CopyFailed")<{ readonly to: string; readonly reason: string }> {
  override get message() {
    return `${this.to}: ${this.reason}`
  }
}

/** A whole copy of a backup, under its name at its place. */
interface KeptCopy {
  readonly name: string
  readonly backup: RemoteBackup
}

/** Services that reach places. */
export type PlaceServices = LocalFiles | LocalProcesses | Path.Path | Ssh

/** Directory of backups: copies elsewhere, or those of the stack itself. */
export interface CopyPlace {
  readonly to: string
  /**
   * Whole copies, newest first, and the bytes that are free.
   * @param known backups whose manifest need not be read again
   */
  readonly list: (known: ReadonlyArray<RemoteBackup>) => Effect.Effect<
    { readonly copies: ReadonlyArray<KeptCopy>; readonly free: number },
    CopyFailed,
    PlaceServices
  >
  readonly read: (name: string, file: string) => Stream.Stream<Uint8Array, CopyFailed, PlaceServices>
  readonly write: (
    name: string,
    file: string,
    bytes: Stream.Stream<Uint8Array, CopyFailed>
  ) => Effect.Effect<void, CopyFailed, PlaceServices>
  /** Reads what was written again, and compares it with the hashes of the items. */
  readonly verify: (name: string, items: Backup["items"]) => Effect.Effect<BackupVerified, CopyFailed, PlaceServices>
  /** Lists a copy whose files are written, and removes outdated ones. */
  readonly keep: (
    name: string,
    manifest: ReadonlyArray<string>,
    outdated: ReadonlyArray<string>
  ) => Effect.Effect<void, CopyFailed, PlaceServices>
}

export const manifestName = "manifest"
const longestPause = Duration.minutes(10)
const longestTransfer = Duration.hours(12)
const longestListing = Duration.seconds(20)
/** Bytes kept of the end of an error message. */
const mostWords = 4 * 1024

/** Turns the error of a service into that of a place. */
export const failedAt = (to: string) => (error: { readonly message: string }) =>
  new CopyFailed({ to, reason: error.message.replace(/\.$/, "") })

/** Sorts copies by time. */
export const newestFirst = (copies: ReadonlyArray<KeptCopy>) =>
  copies.toSorted((one, other) => other.backup.takenAt.localeCompare(one.backup.takenAt))

/** Form of a copy's name. */
export const copyName = /^\d+-\d{8}T\d{6}Z$/

/** Names a backup's copy: two backups of one number, before and after a server was lost, are apart. */
export const nameCopy = ({ id, takenAt }: Pick<Backup, "id" | "takenAt">): string =>
  `${id}-${takenAt.replaceAll(/[-:]/g, "")}`

/** Reads a copy by its manifest. */
export const toKeptCopy = (name: string, lines: ReadonlyArray<string>): KeptCopy => ({
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
export const makeRemotePlace = (to: string, server: ServerAccess, root: string): CopyPlace => {
  const failed = failedAt(to)
  return {
    to,
    list: () =>
      execute(server, listCopiesCommand(root)).pipe(
        Effect.mapError(failed),
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
        })
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
export const makeLocalPlace = (to: string, root: string): CopyPlace => {
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
    list: () =>
      Effect.gen(function*() {
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
