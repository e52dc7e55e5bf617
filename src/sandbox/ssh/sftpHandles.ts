import { Effect } from "effect"
import { type FileHandle, readdir } from "node:fs/promises"
import { attemptFileCall, SftpRefused } from "./SftpRefused.ts"

/** Open directory with its unread names. */
export interface OpenDirectory {
  readonly path: string
  readonly next: (count: number) => ReadonlyArray<string>
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
export const makeSftpHandles = Effect.gen(function*() {
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
    addFile: (open: () => Promise<FileHandle>) =>
      Effect.uninterruptible(Effect.zipRight(place, Effect.map(attemptFileCall(open), (file) => add(files, file)))),
    addDirectory: (path: string) =>
      Effect.zipRight(
        place,
        Effect.map(attemptFileCall(() => readdir(path)), (names) => add(directories, openDirectory(path, names)))
      ),
    file: (key: Buffer) => find(files, key),
    directory: (key: Buffer) => find(directories, key),
    close: (key: Buffer) =>
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
