import { Array, Data, Effect, Order, type Scope } from "effect"
import { constants, type Dirent } from "node:fs"
import { type FileHandle, open, readdir } from "node:fs/promises"
import type { LocalKind, LocalName } from "./LocalFiles.ts"
import { readErrorCode } from "./readErrorCode.ts"

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
