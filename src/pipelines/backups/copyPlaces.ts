import { Path } from "@effect/platform"
import { Config, Data, Duration, Effect, Fiber, Option, Schema, Stream } from "effect"
import {
  keepCopyCommand,
  listCopiesCommand,
  nameItemFile,
  parseCopies,
  parseManifest,
  parseVerified,
  readCopyCommand,
  type RemoteBackup,
  toVerified,
  verifyBackupCommand,
  writeCopyCommand
} from "../../remote/backups.ts"
import type { Backup, BackupVerified } from "../../schema/backups.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import { hashStream, keepLastBytes } from "../../services/bytes.ts"
import { LocalFiles, privateFile } from "../../services/local/LocalFiles.ts"
import { LocalProcesses } from "../../services/local/LocalProcesses.ts"
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
   * @param others false if copies of other backups may be left out, where reading each of them takes a while
   */
  readonly list: (known: ReadonlyArray<RemoteBackup>, others: boolean) => Effect.Effect<
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

const manifestName = "manifest"
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
        Effect.mapBoth({ onFailure: failed, onSuccess: ({ stdout }) => parseVerified(stdout, items) })
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
        return toVerified(found)
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

const reference = /^\$\{env:([^{}]+)\}$/

/** Repository as it is written, or the value of the variable that is written in its place. */
const resolveRepository = (to: string, written: string) => {
  // The programs that it starts for some of them would take it for an option.
  if (/^(?:[a-z0-9]+:(?:\/\/)?)?-/i.test(written)) {
    return new CopyFailed({ to, reason: "repository must not begin with a hyphen" })
  }
  const [, name] = reference.exec(written) ?? []
  if (name === undefined) {
    return written.includes("${")
      ? new CopyFailed({ to, reason: "repository takes ${env:NAME} only as a whole" })
      : Effect.succeed(written)
  }
  const reason = `the environment variable ${name} of this service is not set, which repository names`
  return Config.string(name).pipe(
    Effect.filterOrFail((value) => value !== "", () => undefined),
    Effect.mapError(() => new CopyFailed({ to, reason }))
  )
}

const Snapshots = Schema.NullOr(Schema.Array(Schema.Struct({ paths: Schema.Array(Schema.String) })))
const decodeSnapshots = Schema.decodeUnknown(Schema.parseJson(Snapshots))

const mostListed = 32 * 1024 * 1024
const longestAnswer = "2 minutes"
/** Copies whose manifest is read; those before are not listed. */
const mostUnknown = 20

const password = /\/\/[^/@\s]*@/g

/**
 * Opens a repository of restic, which keeps each file of a copy as a snapshot. The manifest comes last: without it a copy
 * is not listed. Old ones stay until `restic forget` removes them.
 */
export const openRestic = (to: string, written: string, directory: string) =>
  Effect.map(resolveRepository(to, written), (repository): CopyPlace => {
    const scrub = (text: string) => text.replaceAll(repository, written).replaceAll(password, "//***@")
    const failed = (error: { readonly message: string }) => failedAt(to)({ message: scrub(error.message) })
    const variables = { RESTIC_REPOSITORY: repository, RESTIC_REPOSITORY_FILE: "" }
    const restic = (args: ReadonlyArray<string>, input?: Stream.Stream<Uint8Array, CopyFailed>) =>
      Stream.unwrap(
        Effect.map(LocalProcesses, ({ stream }) => stream({ program: "restic", args, variables }, input))
      ).pipe(Stream.mapError((error) => error instanceof CopyFailed ? error : failed(error)))
    const locate = (name: string, file: string) => `/${directory}/${name}/${file}`
    const read: CopyPlace["read"] = (name, file) => {
      const path = locate(name, file)
      return restic(["dump", "--path", path, "latest", path])
    }
    const write: CopyPlace["write"] = (name, file, bytes) =>
      Stream.runDrain(restic([
        "backup",
        "--quiet",
        "--host",
        "berth",
        "--tag",
        directory,
        "--stdin",
        "--stdin-filename",
        locate(name, file)
      ], bytes))
    const readText = (bytes: Stream.Stream<Uint8Array, CopyFailed, PlaceServices>) => {
      let length = 0
      return bytes.pipe(
        Stream.tap((chunk) => {
          length += chunk.length
          return length <= mostListed ? Effect.void : new CopyFailed({ to, reason: "restic prints more than 32 MiB" })
        }),
        Stream.decodeText(),
        Stream.mkString,
        Effect.timeoutFail({
          duration: longestAnswer,
          onTimeout: () => new CopyFailed({ to, reason: "restic has not answered for 2 minutes" })
        })
      )
    }
    return {
      to,
      list: (known, others) =>
        Effect.gen(function*() {
          const text = yield* readText(restic(["snapshots", "--json", "--tag", directory]))
          const snapshots = yield* Effect.mapError(
            decodeSnapshots(text),
            () => new CopyFailed({ to, reason: "restic lists its snapshots in words of another version" })
          )
          const names = new Set((snapshots ?? []).flatMap(({ paths: [path = ""] }) => {
            const [, stack, name = "", file] = path.split("/")
            return stack === directory && file === manifestName && copyName.test(name) ? [name] : []
          }))
          const familiar = known.flatMap((backup) => {
            const name = nameCopy(backup)
            return names.delete(name) ? [{ name, backup }] : []
          })
          const unknown = [...names].toSorted((one, other) => other.slice(-16).localeCompare(one.slice(-16)))
          const unfamiliar = yield* Effect.forEach(
            others ? unknown.slice(0, mostUnknown) : [],
            (name) =>
              Effect.map(readText(read(name, manifestName)), (manifest) => toKeptCopy(name, manifest.split("\n"))),
            { concurrency: 4 }
          )
          return { copies: newestFirst([...familiar, ...unfamiliar]), free: Number.POSITIVE_INFINITY }
        }),
      read,
      write,
      verify: (name, items) =>
        Effect.gen(function*() {
          const services = yield* Effect.context<PlaceServices>()
          const found = yield* Effect.forEach(items, (item) =>
            Effect.gen(function*() {
              const { bytes, sha256 } = yield* hashStream(
                Stream.provideContext(read(name, nameItemFile(item.name)), services)
              )
              yield* Stream.runDrain(bytes)
              const state = (yield* sha256) === item.sha256 ? "whole" as const : "changed" as const
              return { name: item.name, state }
            }))
          return toVerified(found)
        }),
      keep: (name, manifest) =>
        write(name, manifestName, Stream.make(new TextEncoder().encode([...manifest, ""].join("\n"))))
    }
  })
