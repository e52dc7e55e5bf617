import { type Error, FileSystem, Path } from "@effect/platform"
import { Array, Effect, Fiber, Layer, Option, Ref, Schedule, Stream } from "effect"
import { createHash } from "node:crypto"
import { errorCode } from "./errorCode.ts"
import {
  type FileRange,
  type LocalEntry,
  LocalFileFailed,
  LocalFiles,
  type LocalKind,
  type LocalName
} from "./LocalFiles.ts"
import { namesIn, type NotReadable, openRegular, readInto, readRegular } from "./openRegular.ts"
import { unfinishedName } from "./unfinished.ts"

const isNothing = ({ cause }: Error.PlatformError) => ["ENOENT", "ENOTDIR"].includes(errorCode(cause))
const isTaken = ({ cause }: Error.PlatformError) => errorCode(cause) === "EEXIST"

// Node says `ENOSPC: no space left on device, write`: the words between are what a person needs.
const reasonOf = (error: Error.PlatformError): string =>
  error._tag === "BadArgument"
    ? "this is not a valid path"
    : /^[A-Z0-9_]+: ([^,]+)/.exec(error.description ?? "")?.[1] ?? error.description ?? error.message

const failing = (path: string) =>
  Effect.mapError((error: Error.PlatformError) => new LocalFileFailed({ path, reason: reasonOf(error) }))

const unreadable = (path: string) =>
  Effect.mapError(({ message: reason }: NotReadable) => new LocalFileFailed({ path, reason }))

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

// Virus scanners and indexers of Windows hold a new file open for a moment.
const heldOpen = {
  schedule: Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(20)),
  while: ({ cause }: Error.PlatformError) =>
    process.platform === "win32" && ["EPERM", "EACCES", "EBUSY"].includes(errorCode(cause))
}

const chunkSize = 256 * 1024

type Append = (bytes: Uint8Array) => Effect.Effect<void, LocalFileFailed>

const make = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const removed = (file: string) => Effect.ignore(fs.remove(file, { force: true }))

  /** Fills an open file and has it on the disk. */
  const fill = <A, E>(
    content: FileSystem.File,
    named: string,
    write: (append: Append) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | LocalFileFailed> => {
    const append: Append = (bytes) => bytes.length === 0 ? Effect.void : failing(named)(content.writeAll(bytes))
    return Effect.zipLeft(write(append), failing(named)(content.sync))
  }

  /** Writes a file beside `target` and moves it there when it is whole. */
  const replace = <A, E>(target: string, mode: number, write: (append: Append) => Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const part = path.join(path.dirname(target), unfinishedName())
      // It is removed whenever this is broken off, also between two of these.
      return yield* Effect.scoped(
        Effect.flatMap(failing(target)(fs.open(part, { flag: "wx", mode })), (file) => fill(file, target, write))
      ).pipe(
        Effect.zipLeft(failing(target)(Effect.retry(fs.rename(part, target), heldOpen))),
        Effect.onError(() => removed(part))
      )
    })

  // A link whose target does not exist yet is followed too, so that writing never turns a link into a file.
  const landing = (file: string, links: number): Effect.Effect<string> =>
    fs.realPath(file).pipe(
      Effect.orElse(() =>
        Effect.flatMap(fs.readLink(file), (target) =>
          links === 0 ? Effect.succeed(file) : landing(path.resolve(path.dirname(file), target), links - 1))
      ),
      Effect.orElseSucceed(() =>
        file
      )
    )

  const permissions = (file: string) =>
    fs.stat(file).pipe(Effect.map((info) => info.mode & 0o777), Effect.orElseSucceed(() => undefined))

  const inspect = (directory: string) => ({ kind, name }: LocalName) => {
    if (kind === "link") return Effect.succeedSome(bare(name, kind))
    return fs.stat(path.join(directory, name)).pipe(
      Effect.map((info) => Option.some(entryOf(name, info))),
      Effect.catchAll((error) => Effect.succeed(isNothing(error) ? Option.none() : Option.some(bare(name, "other"))))
    )
  }

  /** Reads a file chunk by chunk, each into memory of its own. */
  const stream = (name: string, { bytes = Number.POSITIVE_INFINITY, offset }: FileRange = { offset: 0 }) =>
    Stream.unwrapScoped(Effect.map(unreadable(name)(openRegular(name)), (file) => {
      let position = offset
      let left = bytes
      return Stream.repeatEffectOption(Effect.gen(function*() {
        const memory = new Uint8Array(Math.min(chunkSize, left))
        const read = yield* Effect.asSomeError(unreadable(name)(readInto(file, memory, position)))
        if (read === 0) return yield* Effect.fail(Option.none())
        position += read
        left -= read
        return memory.subarray(0, read)
      }))
    }))

  /** Reads a file into two pieces of memory in turn: one is with the reader while the other is filled. */
  const lend = (name: string, { bytes = Number.POSITIVE_INFINITY, offset }: FileRange = { offset: 0 }) =>
    Stream.unwrapScoped(Effect.gen(function*() {
      const scope = yield* Effect.scope
      const file = yield* unreadable(name)(openRegular(name))
      let memory = [new Uint8Array(chunkSize), new Uint8Array(chunkSize)] as const
      let position = offset
      let left = bytes
      const fill = Effect.suspend(() => {
        const target = memory[0].subarray(0, Math.min(chunkSize, left))
        return Effect.map(unreadable(name)(readInto(file, target, position)), (read) => {
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

  return LocalFiles.of({
    find: Effect.fn("LocalFiles.find")((file) =>
      fs.stat(file).pipe(
        Effect.map((info) => Option.some(entryOf(path.basename(file), info))),
        Effect.catchIf(isNothing, () => Effect.succeedNone),
        failing(file)
      )
    ),
    list: Effect.fn("LocalFiles.list")((directory) =>
      unreadable(directory)(namesIn(directory)).pipe(
        Effect.flatMap(Effect.forEach(inspect(directory), { concurrency: 16 })),
        Effect.map(Array.getSomes)
      )
    ),
    names: Effect.fn("LocalFiles.names")((directory) => unreadable(directory)(namesIn(directory))),
    realPath: Effect.fn("LocalFiles.realPath")((file) => failing(file)(fs.realPath(file))),
    read: Effect.fn("LocalFiles.read")((file) => unreadable(file)(readRegular(file))),
    stream,
    lend,
    sha256: Effect.fn("LocalFiles.sha256")((file) =>
      Effect.suspend(() => {
        const hash = createHash("sha256")
        const hashed = Stream.runForEach(lend(file), (chunk) => Effect.sync(() => hash.update(chunk)))
        return Effect.map(hashed, () => hash.digest("hex"))
      })
    ),
    write: Effect.fn("LocalFiles.write")(function*(file, content, options) {
      const target = yield* landing(file, 40)
      const kept = options?.mode === undefined ? yield* permissions(target) : undefined
      yield* replace(target, options?.mode ?? kept ?? 0o644, (append) => append(bytesOf(content)))
      if (kept !== undefined) yield* Effect.ignore(fs.chmod(target, kept))
    }),
    // Who breaks it off between making the file and filling it leaves no empty one.
    create: Effect.fn("LocalFiles.create")((file, content, options) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const opened = yield* fs.open(file, { flag: "wx", mode: options?.mode ?? 0o644 }).pipe(
            Effect.asSome,
            Effect.catchIf(isTaken, () => Effect.succeedNone),
            failing(file)
          )
          if (Option.isNone(opened)) return false
          const filled = restore(fill(opened.value, file, (append) => append(bytesOf(content))))
          yield* Effect.onError(filled, () => removed(file))
          return true
        })
      ).pipe(Effect.scoped)
    ),
    save: (file, content, options) =>
      Effect.gen(function*() {
        const written = yield* Ref.make(0)
        yield* replace(file, options?.mode ?? 0o644, (append) =>
          Stream.runForEach(content, (chunk) =>
            Effect.zipRight(
              append(chunk),
              Ref.update(written, (bytes) => bytes + chunk.length)
            )))
        return yield* Ref.get(written)
      }).pipe(Effect.withSpan("LocalFiles.save")),
    makeDirectory: Effect.fn("LocalFiles.makeDirectory")((directory) =>
      failing(directory)(fs.makeDirectory(directory, { recursive: true }))
    ),
    temporaryDirectory: Effect.fn("LocalFiles.temporaryDirectory")((prefix) =>
      failing(prefix)(fs.makeTempDirectory({ prefix }))
    ),
    rename: Effect.fn("LocalFiles.rename")((from, to) =>
      fs.rename(from, to).pipe(Effect.retry(heldOpen), failing(from))
    ),
    remove: Effect.fn("LocalFiles.remove")((file) => failing(file)(fs.remove(file, { recursive: true, force: true })))
  })
})

/** The file system of this machine. */
export const LocalFilesLive: Layer.Layer<LocalFiles, never, FileSystem.FileSystem | Path.Path> = Layer.effect(
  LocalFiles,
  make
)
