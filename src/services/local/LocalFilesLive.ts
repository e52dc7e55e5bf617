import { type Error, FileSystem, Path } from "@effect/platform"
import { Array, Effect, Layer, Option, Ref, Stream } from "effect"
import { createHash } from "node:crypto"
import { makeAtomicWrites, mapWriteError } from "./atomicWrites.ts"
import { mapReadError, streamFile, streamLentChunks } from "./fileStreams.ts"
import { type LocalEntry, LocalFiles, type LocalKind, type LocalName } from "./LocalFiles.ts"
import { listDirectoryNames, readRegular } from "./openRegular.ts"
import { readErrorCode } from "./readErrorCode.ts"

const isNothing = ({ cause }: Error.PlatformError) => ["ENOENT", "ENOTDIR"].includes(readErrorCode(cause))
const isTaken = ({ cause }: Error.PlatformError) => readErrorCode(cause) === "EEXIST"

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
    )
  })
})

/** The file system of this machine. */
export const LocalFilesLive: Layer.Layer<LocalFiles, never, FileSystem.FileSystem | Path.Path> = Layer.effect(
  LocalFiles,
  make
)
