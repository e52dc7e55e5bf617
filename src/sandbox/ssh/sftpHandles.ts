import { Effect, type Scope } from "effect"
import { type FileHandle, readdir } from "node:fs/promises"
import { attemptFileCall, SftpRefused } from "./SftpRefused.ts"

/** Open directory with its unread names. */
export interface OpenDirectory {
  readonly path: string
  readonly next: (count: number) => ReadonlyArray<string>
}

/** Open files and directories of one SFTP session, by handle. */
export interface SftpHandles {
  readonly addFile: (open: () => Promise<FileHandle>) => Effect.Effect<Buffer, SftpRefused>
  readonly addDirectory: (path: string) => Effect.Effect<Buffer, SftpRefused>
  readonly file: (key: Buffer) => Effect.Effect<FileHandle, SftpRefused>
  readonly directory: (key: Buffer) => Effect.Effect<OpenDirectory, SftpRefused>
  readonly close: (key: Buffer) => Effect.Effect<void, SftpRefused>
}

const maxHandles = 256

const openDirectory = (path: string, names: ReadonlyArray<string>): OpenDirectory => {
  let left = [".", "..", ...names]
  return {
    path,
    next: (count) => {
      const some = left.slice(0, count)
      left = left.slice(count)
      return some
    }
  }
}

const find = <A>(from: ReadonlyMap<string, A>, key: Buffer) =>
  Effect.suspend(() => {
    const handle = from.get(key.toString("hex"))
    return handle === undefined
      ? Effect.fail(new SftpRefused({ code: "EBADF", reason: "Failure: no such handle" }))
      : Effect.succeed(handle)
  })

/** Creates a handle table; closing the scope closes all handles. */
export const makeSftpHandles: Effect.Effect<SftpHandles, never, Scope.Scope> = Effect.gen(function*() {
  const files = new Map<string, FileHandle>()
  const directories = new Map<string, OpenDirectory>()
  let counter = 0
  yield* Effect.addFinalizer(() =>
    Effect.forEach(files.values(), (file) => Effect.ignore(attemptFileCall(() => file.close())), { discard: true })
  )
  const add = <A>(to: Map<string, A>, handle: A) => {
    counter++
    const key = Buffer.alloc(4)
    key.writeUInt32BE(counter)
    to.set(key.toString("hex"), handle)
    return key
  }
  const place = Effect.suspend(() =>
    files.size + directories.size < maxHandles
      ? Effect.void
      : Effect.fail(new SftpRefused({ code: "EMFILE", reason: "Failure: too many open files" }))
  )
  return {
    // Uninterruptible: every opened file is registered for closing.
    addFile: (open) =>
      Effect.uninterruptible(Effect.zipRight(place, Effect.map(attemptFileCall(open), (file) => add(files, file)))),
    addDirectory: (path) =>
      Effect.zipRight(
        place,
        Effect.map(attemptFileCall(() => readdir(path)), (names) => add(directories, openDirectory(path, names)))
      ),
    file: (key) => find(files, key),
    directory: (key) => find(directories, key),
    close: (key) =>
      Effect.suspend(() => {
        const name = key.toString("hex")
        if (directories.delete(name)) return Effect.void
        return Effect.flatMap(find(files, key), (file) => {
          files.delete(name)
          return attemptFileCall(() => file.close())
        })
      })
  }
})
