import type { Error, FileSystem, Path } from "@effect/platform"
import { Effect, Schedule } from "effect"
import { LocalFileFailed, type WriteOptions } from "./LocalFiles.ts"
import { readErrorCode } from "./readErrorCode.ts"
import { makeUnfinishedName } from "./unfinishedFile.ts"

// Node reports `ENOSPC: no space left on device, write`; users need the middle part.
const reasonOf = (error: Error.PlatformError): string =>
  error._tag === "BadArgument"
    ? "this is not a valid path"
    : /^[A-Z0-9_]+: ([^,]+)/.exec(error.description ?? "")?.[1] ?? error.description ?? error.message

/** Adds the path to a file system failure. */
export const mapWriteError = (path: string) =>
  Effect.mapError((error: Error.PlatformError) => new LocalFileFailed({ path, reason: reasonOf(error) }))

// Virus scanners and indexers on Windows briefly hold a new file open.
const retryHeldOpen = {
  schedule: Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(20)),
  while: ({ cause }: Error.PlatformError) =>
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
