import { type Error as PlatformErrors, FileSystem, Path } from "@effect/platform"
import {
  Array,
  Context,
  Data,
  Effect,
  Fiber,
  Layer,
  Option,
  Order,
  Predicate,
  Ref,
  Schedule,
  Schema,
  type Scope,
  Stream
} from "effect"
import { createHash, randomBytes } from "node:crypto"
import { constants, type Dirent } from "node:fs"
import { type FileHandle, open, readdir, statfs } from "node:fs/promises"
import { cut } from "../../schema/words.ts"

/** Type of a directory entry; links are not followed. */
export type LocalKind = "file" | "directory" | "link" | "other"

/** Name and type of an entry in a local directory. */
export interface LocalName {
  readonly name: string
  readonly kind: LocalKind
}

/** An entry of a local directory. `size` is in bytes, `modified` in milliseconds since 1970, `mode` its permissions. */
export interface LocalEntry extends LocalName {
  readonly size: number
  readonly modified: number
  readonly mode: number
}

/** Range of a file: up to `bytes` from `offset`, or the rest of the file without `bytes`. */
export interface FileRange {
  readonly offset: number
  readonly bytes?: number
}

/** A local file or directory could not be read or written. */
export class LocalFileFailed extends Schema.TaggedError<LocalFileFailed>()("LocalFileFailed", {
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `${cut(this.path)}: ${this.reason}`
  }
}

/** Permissions of a written file. */
export interface WriteOptions {
  readonly mode?: number
  /** Creates missing parent directories with these permissions; without it, a missing directory is a failure. */
  readonly directoryMode?: number
}

/** Permissions of files beside the settings, which only this user may read. */
export const privateFile = { mode: 0o600, directoryMode: 0o700 } as const

/** The files of the machine that Berth runs on. Paths are absolute; writes are atomic: a temporary file, then a rename. */
export class LocalFiles extends Context.Tag("berth/LocalFiles")<LocalFiles, {
  /** Entry at a path, with links followed; none when it does not exist. */
  readonly find: (path: string) => Effect.Effect<Option.Option<LocalEntry>, LocalFileFailed>
  /** Names in a directory, sorted, links reported as links. Reads the directory once, without a stat of its files. */
  readonly names: (path: string) => Effect.Effect<ReadonlyArray<LocalName>, LocalFileFailed>
  /** Entries of a directory sorted by name, links reported as links. Calls stat for each entry. */
  readonly list: (path: string) => Effect.Effect<ReadonlyArray<LocalEntry>, LocalFileFailed>
  /** Resolves every link in a path. */
  readonly realPath: (path: string) => Effect.Effect<string, LocalFileFailed>
  /** Target of a link, as it is written. */
  readonly readLink: (path: string) => Effect.Effect<string, LocalFileFailed>
  /** Content of a regular file of 32 MiB at most; larger ones are streamed. */
  readonly read: (path: string) => Effect.Effect<Uint8Array, LocalFileFailed>
  /** Streams a file, or a range of it, in chunks of 256 KiB. */
  readonly stream: (path: string, range?: FileRange) => Stream.Stream<Uint8Array, LocalFileFailed>
  /**
   * Like `stream`, but lends its chunks: each is valid until the next one is pulled, then its memory is reused. For big
   * files whose bytes are read once.
   */
  readonly lend: (path: string, range?: FileRange) => Stream.Stream<Uint8Array, LocalFileFailed>
  /** The sha256 of a file as lower-case hex, read as a stream. */
  readonly sha256: (path: string) => Effect.Effect<string, LocalFileFailed>
  /**
   * Replaces or creates a file, following links. Without `mode`, an existing file keeps its permissions and a new one
   * gets 0644.
   */
  readonly write: (
    path: string,
    content: Uint8Array | string,
    options?: WriteOptions
  ) => Effect.Effect<void, LocalFileFailed>
  /** Creates a file unless the name exists; returns true when it was created. */
  readonly create: (
    path: string,
    content: Uint8Array | string,
    options?: { readonly mode?: number }
  ) => Effect.Effect<boolean, LocalFileFailed>
  /**
   * Writes a stream to a temporary file and renames it when complete; a failure leaves no partial file. Replaces a link
   * at the path and does not follow it. `mode` defaults to 0644. Returns the number of bytes.
   */
  readonly save: <E>(
    path: string,
    content: Stream.Stream<Uint8Array, E>,
    options?: WriteOptions
  ) => Effect.Effect<number, LocalFileFailed | E>
  /** Creates a directory and its missing parents. `mode` defaults to 0777 without the bits of the umask. */
  readonly makeDirectory: (path: string, options?: { readonly mode?: number }) => Effect.Effect<void, LocalFileFailed>
  /** Creates a private temporary directory for copies that a user views; the system cleans it up. */
  readonly temporaryDirectory: (prefix: string) => Effect.Effect<string, LocalFileFailed>
  /** Removes a file, a link, or a directory recursively; succeeds when nothing exists. */
  readonly remove: (path: string) => Effect.Effect<void, LocalFileFailed>
  /** Bytes that this user can still write to the disk of an existing path. */
  readonly freeBytes: (path: string) => Effect.Effect<number, DiskUnknown>
}>() {}

/** Error code of the system or a library, such as `ENOENT`; empty when there is none. */
export const readErrorCode = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""

/** Makes a temporary name for an atomic write, beside the file to replace. */
export const makeUnfinishedName = (): string => `.berth-${randomBytes(8).toString("hex")}.tmp`

/** Recognizes temporary files of atomic writes; old ones were left by a crash. */
export const isUnfinished = (name: string): boolean => /^\.berth-[0-9a-f]{16}\.tmp$/.test(name)

// Node reports `ENOSPC: no space left on device, write`; users need the middle part.
const reasonOf = (error: PlatformErrors.PlatformError): string =>
  error._tag === "BadArgument"
    ? "this is not a valid path"
    : /^[A-Z0-9_]+: ([^,]+)/.exec(error.description ?? "")?.[1] ?? error.description ?? error.message

/** Adds the path to a file system failure. */
export const mapWriteError = (path: string) =>
  Effect.mapError((error: PlatformErrors.PlatformError) => new LocalFileFailed({ path, reason: reasonOf(error) }))

// Virus scanners and indexers on Windows briefly hold a new file open.
const retryHeldOpen = {
  schedule: Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(20)),
  while: ({ cause }: PlatformErrors.PlatformError) =>
    process.platform === "win32" && ["EPERM", "EACCES", "EBUSY"].includes(readErrorCode(cause))
}

type Append = (bytes: Uint8Array) => Effect.Effect<void, LocalFileFailed>

/** Writes files atomically: a temporary file, flushed to disk, then a rename. */
export const makeAtomicWrites = (fs: FileSystem.FileSystem, path: Path.Path) => {
  const remove = (file: string) => Effect.ignore(fs.remove(file, { force: true }))

  /** Fills an open file and flushes it to the disk. */
  const fill = <A, E>(
    content: FileSystem.File,
    named: string,
    write: (append: Append) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | LocalFileFailed> => {
    const append: Append = (bytes) => bytes.length === 0 ? Effect.void : mapWriteError(named)(content.writeAll(bytes))
    return Effect.zipLeft(write(append), mapWriteError(named)(content.sync))
  }

  /** Writes to a temporary file beside `target`, and renames it when complete. */
  const replace = <A, E>(
    target: string,
    { directoryMode, mode }: WriteOptions & { readonly mode: number },
    write: (append: Append) => Effect.Effect<A, E>
  ) =>
    Effect.gen(function*() {
      const directory = path.dirname(target)
      const part = path.join(directory, makeUnfinishedName())
      const open = fs.open(part, { flag: "wx", mode })
      // Also where the directory was removed since the process started.
      const opened = directoryMode === undefined ? open : Effect.catchIf(
        open,
        ({ cause }) => readErrorCode(cause) === "ENOENT",
        () => Effect.zipRight(fs.makeDirectory(directory, { recursive: true, mode: directoryMode }), open)
      )
      // Removes the temporary file on interruption, also between two of these steps.
      return yield* Effect.scoped(
        Effect.flatMap(mapWriteError(target)(opened), (file) => fill(file, target, write))
      ).pipe(
        Effect.zipLeft(mapWriteError(target)(Effect.retry(fs.rename(part, target), retryHeldOpen))),
        Effect.onError(() => remove(part))
      )
    })

  // Also follows links to targets that do not exist yet: writing never replaces a link with a file.
  const resolveTarget = (file: string, links: number): Effect.Effect<string> =>
    fs.realPath(file).pipe(
      Effect.orElse(() =>
        Effect.flatMap(fs.readLink(file), (target) =>
          links === 0 ? Effect.succeed(file) : resolveTarget(path.resolve(path.dirname(file), target), links - 1))
      ),
      Effect.orElseSucceed(() =>
        file
      )
    )

  return { fill, remove, replace, resolveTarget }
}

/**
 * A local file cannot be opened or read. `code` is the system's error code, empty when Berth itself refuses the file.
 */
export class NotReadable extends Data.TaggedError("NotReadable")<{
  readonly code: string
  readonly message: string
}> {}

const notRegular = (code = "") => new NotReadable({ code, message: "is not a regular file" })

/** Node reports `ENOENT: no such file or directory, open '…'`; users need the middle part. */
const notReadable = (cause: unknown): NotReadable => {
  const code = readErrorCode(cause)
  // `open` always fails for a socket.
  if (code === "ENXIO") return notRegular(code)
  if (code.startsWith("ERR_INVALID_ARG")) return new NotReadable({ code, message: "this is not a valid path" })
  const message = cause instanceof Error ? cause.message : String(cause)
  return new NotReadable({ code, message: /^[A-Z0-9_]+: ([^,]+)/.exec(message)?.[1] ?? message })
}

const reading = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: notReadable })

// Windows has neither this flag nor named pipes in its file system.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/**
 * Opens a regular file for reading; it closes with the scope. Opens without blocking: a pipe without a writer would
 * occupy a thread of the shared file system pool for ever.
 * Checks the opened file and not its name, which may have changed meanwhile.
 */
export const openRegular = (path: string): Effect.Effect<FileHandle, NotReadable, Scope.Scope> =>
  Effect.gen(function*() {
    const file = yield* Effect.acquireRelease(
      reading(() => open(path, flags)),
      (file) => Effect.ignore(reading(() => file.close()))
    )
    return (yield* reading(() => file.stat())).isFile() ? file : yield* notRegular()
  })

/**
 * Reads a range of an open file.
 * @returns number of bytes written to `memory`; 0 at the end of the file
 */
export const readInto = (file: FileHandle, memory: Uint8Array, position: number): Effect.Effect<number, NotReadable> =>
  Effect.map(reading(() => file.read(memory, 0, memory.length, position)), ({ bytesRead }) => bytesRead)

const kindOf = (entry: Dirent): LocalKind =>
  entry.isFile() ? "file" : entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "other"

/** Names in a directory, sorted, and their types, without a stat of the files. */
export const listDirectoryNames = (directory: string): Effect.Effect<ReadonlyArray<LocalName>, NotReadable> =>
  Effect.map(
    reading(() => readdir(directory, { withFileTypes: true })),
    (entries) =>
      Array.sortWith(
        entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
        ({ name }) => name,
        Order.string
      )
  )

/** Reads a whole regular file; refuses files larger than `most` bytes. */
export const readRegular = (
  path: string,
  most = Number.POSITIVE_INFINITY
): Effect.Effect<Uint8Array, NotReadable> =>
  Effect.scoped(Effect.gen(function*() {
    const file = yield* openRegular(path)
    if (Number.isFinite(most) && (yield* reading(() => file.stat())).size > most) {
      return yield* new NotReadable({ code: "EFBIG", message: `is larger than ${most / 1024} KiB` })
    }
    return new Uint8Array(yield* reading(() => file.readFile()))
  }))

const chunkSize = 256 * 1024

/** Adds the path to a read failure. */
export const mapReadError = (path: string) =>
  Effect.mapError(({ message: reason }: NotReadable) => new LocalFileFailed({ path, reason }))

/** Reads a file in chunks, each in a buffer of its own. */
export const streamFile = (name: string, { bytes = Number.POSITIVE_INFINITY, offset }: FileRange = { offset: 0 }) =>
  Stream.unwrapScoped(Effect.map(mapReadError(name)(openRegular(name)), (file) => {
    let position = offset
    let left = bytes
    return Stream.repeatEffectOption(Effect.gen(function*() {
      const memory = new Uint8Array(Math.min(chunkSize, left))
      const read = yield* Effect.asSomeError(mapReadError(name)(readInto(file, memory, position)))
      if (read === 0) return yield* Effect.fail(Option.none())
      position += read
      left -= read
      return memory.subarray(0, read)
    }))
  }))

/** Reads a file with two alternating buffers: one is lent to the reader while the other is filled. */
export const streamLentChunks = (
  name: string,
  { bytes = Number.POSITIVE_INFINITY, offset }: FileRange = { offset: 0 }
) =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const scope = yield* Effect.scope
    const file = yield* mapReadError(name)(openRegular(name))
    let memory = [new Uint8Array(chunkSize), new Uint8Array(chunkSize)] as const
    let position = offset
    let left = bytes
    const fill = Effect.suspend(() => {
      const target = memory[0].subarray(0, Math.min(chunkSize, left))
      return Effect.map(mapReadError(name)(readInto(file, target, position)), (read) => {
        position += read
        left -= read
        return target.subarray(0, read)
      })
    }).pipe(Effect.forkIn(scope))
    let filling = yield* fill
    return Stream.repeatEffectOption(Effect.gen(function*() {
      const chunk = yield* Effect.asSomeError(Fiber.join(filling))
      if (chunk.length === 0) return yield* Effect.fail(Option.none())
      memory = [memory[1], memory[0]]
      filling = yield* fill
      return chunk
    }))
  }))

/** The free space of a disk cannot be determined. */
export class DiskUnknown extends Data.TaggedError("DiskUnknown")<{ readonly message: string }> {}

/** Bytes that this user can still write to the disk of a local path. */
export const readFreeDisk = (path: string): Effect.Effect<number, DiskUnknown> =>
  Effect.map(
    Effect.tryPromise({
      try: () => statfs(path),
      catch: (cause) => {
        const words = cause instanceof Error ? cause.message : "cannot be looked at"
        return new DiskUnknown({
          message: readErrorCode(cause) === "ENOENT" ? `${path} does not exist: create it` : `${path}: ${words}`
        })
      }
    }),
    ({ bavail, bsize }) => bavail * bsize
  )

const isNothing = ({ cause }: PlatformErrors.PlatformError) => ["ENOENT", "ENOTDIR"].includes(readErrorCode(cause))
const isTaken = ({ cause }: PlatformErrors.PlatformError) => readErrorCode(cause) === "EEXIST"

const kinds: Partial<Record<FileSystem.File.Type, LocalKind>> = { File: "file", Directory: "directory" }

const entryOf = (name: string, info: FileSystem.File.Info): LocalEntry => ({
  name,
  kind: kinds[info.type] ?? "other",
  size: Number(info.size),
  modified: Option.match(info.mtime, { onNone: () => 0, onSome: (time) => time.getTime() }),
  mode: info.mode & 0o777
})

const bare = (name: string, kind: LocalKind): LocalEntry => ({ name, kind, size: 0, modified: 0, mode: 0 })

const bytesOf = (content: Uint8Array | string) =>
  typeof content === "string" ? new TextEncoder().encode(content) : content

/** Most bytes of a file that is read as a whole: a sparse file of gigabytes takes no space on the disk. */
const mostBytes = 32 * 1024 * 1024

const make = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const { fill, remove, replace, resolveTarget } = makeAtomicWrites(fs, path)

  const permissions = (file: string) =>
    fs.stat(file).pipe(Effect.map((info) => info.mode & 0o777), Effect.orElseSucceed(() => undefined))

  const inspect = (directory: string) => ({ kind, name }: LocalName) => {
    if (kind === "link") return Effect.succeedSome(bare(name, kind))
    return fs.stat(path.join(directory, name)).pipe(
      Effect.map((info) => Option.some(entryOf(name, info))),
      Effect.catchAll((error) => Effect.succeed(isNothing(error) ? Option.none() : Option.some(bare(name, "other"))))
    )
  }

  return LocalFiles.of({
    find: Effect.fn("LocalFiles.find")((file) =>
      fs.stat(file).pipe(
        Effect.map((info) => Option.some(entryOf(path.basename(file), info))),
        Effect.catchIf(isNothing, () => Effect.succeedNone),
        mapWriteError(file)
      )
    ),
    list: Effect.fn("LocalFiles.list")((directory) =>
      mapReadError(directory)(listDirectoryNames(directory)).pipe(
        Effect.flatMap(Effect.forEach(inspect(directory), { concurrency: 16 })),
        Effect.map(Array.getSomes)
      )
    ),
    names: Effect.fn("LocalFiles.names")((directory) => mapReadError(directory)(listDirectoryNames(directory))),
    realPath: Effect.fn("LocalFiles.realPath")((file) => mapWriteError(file)(fs.realPath(file))),
    readLink: Effect.fn("LocalFiles.readLink")((file) => mapWriteError(file)(fs.readLink(file))),
    read: Effect.fn("LocalFiles.read")((file) => mapReadError(file)(readRegular(file, mostBytes))),
    stream: streamFile,
    lend: streamLentChunks,
    sha256: Effect.fn("LocalFiles.sha256")((file) =>
      Effect.suspend(() => {
        const hash = createHash("sha256")
        const hashed = Stream.runForEach(streamLentChunks(file), (chunk) => Effect.sync(() => hash.update(chunk)))
        return Effect.map(hashed, () => hash.digest("hex"))
      })
    ),
    write: Effect.fn("LocalFiles.write")(function*(file, content, options) {
      const target = yield* resolveTarget(file, 40)
      const kept = options?.mode === undefined ? yield* permissions(target) : undefined
      const mode = options?.mode ?? kept ?? 0o644
      yield* replace(target, { ...options, mode }, (append) => append(bytesOf(content)))
      if (kept !== undefined) yield* Effect.ignore(fs.chmod(target, kept))
    }),
    // Interruption between creating the file and filling it leaves no empty file.
    create: Effect.fn("LocalFiles.create")((file, content, options) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const opened = yield* fs.open(file, { flag: "wx", mode: options?.mode ?? 0o644 }).pipe(
            Effect.asSome,
            Effect.catchIf(isTaken, () => Effect.succeedNone),
            mapWriteError(file)
          )
          if (Option.isNone(opened)) return false
          const filled = restore(fill(opened.value, file, (append) => append(bytesOf(content))))
          yield* Effect.onError(filled, () => remove(file))
          return true
        })
      ).pipe(Effect.scoped)
    ),
    save: (file, content, options) =>
      Effect.gen(function*() {
        const written = yield* Ref.make(0)
        yield* replace(file, { ...options, mode: options?.mode ?? 0o644 }, (append) =>
          Stream.runForEach(content, (chunk) =>
            Effect.zipRight(
              append(chunk),
              Ref.update(written, (bytes) =>
                bytes + chunk.length)
            )))
        return yield* Ref.get(written)
      }).pipe(Effect.withSpan("LocalFiles.save")),
    makeDirectory: Effect.fn("LocalFiles.makeDirectory")((directory, options) =>
      mapWriteError(directory)(fs.makeDirectory(directory, { ...options, recursive: true }))
    ),
    temporaryDirectory: Effect.fn("LocalFiles.temporaryDirectory")((prefix) =>
      mapWriteError(prefix)(fs.makeTempDirectory({ prefix }))
    ),
    remove: Effect.fn("LocalFiles.remove")((file) =>
      mapWriteError(file)(fs.remove(file, { recursive: true, force: true }))
    ),
    freeBytes: readFreeDisk
  })
})

/** The file system of this machine. */
export const LocalFilesLive: Layer.Layer<LocalFiles, never, FileSystem.FileSystem | Path.Path> = Layer.effect(
  LocalFiles,
  make
)
