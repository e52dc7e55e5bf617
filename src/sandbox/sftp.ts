import { Data, Effect, FiberSet, Predicate } from "effect"
import { constants, type Stats } from "node:fs"
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rmdir,
  stat,
  truncate,
  unlink,
  utimes
} from "node:fs/promises"
import { basename, dirname, isAbsolute, join, posix, relative, resolve } from "node:path"
import ssh2, { type Attributes, type FileEntry, type SFTPWrapper } from "ssh2"

/** Failed SFTP request: the system's error code, and a message for the client. */
class SftpRefused extends Data.TaggedError("SftpRefused")<{
  readonly code: string
  readonly reason: string
}> {}

/** Words a failed file system call as OpenSSH does. */
const refusedBy = (cause: unknown): SftpRefused => {
  const code = Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : "EIO"
  const reason = code === "ENOENT"
    ? "No such file"
    : code === "EACCES" || code === "EPERM"
    ? "Permission denied"
    : `Failure: ${cause instanceof Error ? cause.message : code}`
  return new SftpRefused({ code, reason })
}

const attemptFileCall = <A>(call: () => Promise<A>): Effect.Effect<A, SftpRefused> =>
  Effect.tryPromise({ try: call, catch: refusedBy })

const onWindows = process.platform === "win32"

/** Converts a local path for the sandbox's shell and SFTP clients: on Windows `C:\x` is `/c/x`, as in Git's sh. */
export const toSandboxPath = (local: string): string =>
  onWindows
    ? local.replace(/^([A-Za-z]):/, (_, drive: string) => `/${drive.toLowerCase()}`).replaceAll("\\", "/")
    : local

const localPathOf = (remote: string): string =>
  onWindows ? remote.replace(/^\/([A-Za-z])(?=\/|$)/, (_, drive: string) => `${drive.toUpperCase()}:`) : remote

const isWithin = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way)
}

/** Resolves the deepest existing ancestor of a path. */
const realPart = (path: string): Effect.Effect<string> =>
  Effect.tryPromise(() => realpath(path)).pipe(
    Effect.catchAll(() => dirname(path) === path ? Effect.succeed(path) : realPart(dirname(path)))
  )

/** Resolves an SFTP path to a local one; `follow` resolves a link at its end. */
type ResolvePath = (path: string, follow: boolean) => Effect.Effect<string, SftpRefused>

/** Resolves paths from a home directory; `confined` rejects paths outside of it, also through links. */
const makeResolvePath = (home: string, confined: boolean): ResolvePath => (path, follow) => {
  const local = posix.isAbsolute(path) ? resolve(localPathOf(path)) : resolve(home, path)
  if (!confined) return Effect.succeed(local)
  const refused = new SftpRefused({ code: "EACCES", reason: "Permission denied: outside the home directory" })
  if (!isWithin(home, local)) return Effect.fail(refused)
  return Effect.gen(function*() {
    const root = yield* realPart(home)
    const real = yield* realPart(follow || local === home ? local : dirname(local))
    return isWithin(root, real) ? local : yield* refused
  })
}

const { OPEN_MODE } = ssh2.utils.sftp

/** True if the request contains the attribute. */
const isSet = Predicate.isNumber
/** Permission bits of a mode, with a default. */
const readPermissions = (mode: unknown, otherwise: number) => isSet(mode) ? mode & 0o7777 : otherwise

/** SFTP attributes; times are in seconds. */
const toSftpAttributes = ({ atimeMs, gid, mode, mtimeMs, size, uid }: Stats): Attributes => ({
  mode,
  uid,
  gid,
  size,
  atime: Math.floor(atimeMs / 1000),
  mtime: Math.floor(mtimeMs / 1000)
})

/** Directory entry. */
const toSftpEntry = (filename: string, stats: Stats): FileEntry => {
  const type = stats.isDirectory() ? "d" : stats.isSymbolicLink() ? "l" : "-"
  const mode = (stats.mode & 0o777).toString(8).padStart(3, "0")
  return { filename, longname: `${type}${mode} ${stats.size} ${filename}`, attrs: toSftpAttributes(stats) }
}

/** Entry for responses that contain only a path. */
const toNameEntry = (path: string): FileEntry => {
  const filename = toSandboxPath(path)
  return { filename, longname: filename, attrs: { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 } }
}

/** Converts SFTP's open flags to the system's. */
const openFlags = (flags: number): number => {
  const when = (asked: number, flag: number) => (flags & asked) === 0 ? 0 : flag
  const write = (flags & OPEN_MODE.WRITE) !== 0
  const access = write
    ? (flags & OPEN_MODE.READ) === 0 ? constants.O_WRONLY : constants.O_RDWR
    : constants.O_RDONLY
  return access | when(OPEN_MODE.APPEND, constants.O_APPEND) | when(OPEN_MODE.CREAT, constants.O_CREAT) |
    when(OPEN_MODE.TRUNC, constants.O_TRUNC) | when(OPEN_MODE.EXCL, constants.O_EXCL)
}

/** Open directory with its unread names. */
interface OpenDirectory {
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
const makeSftpHandles = Effect.gen(function*() {
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

interface SftpOptions {
  readonly sftp: SFTPWrapper
  /** Completes when the channel or its connection has closed. */
  readonly gone: Effect.Effect<void>
  readonly home: string
  readonly confined: boolean
}

const { STATUS_CODE } = ssh2.utils.sftp
const maxConcurrentRequests = 64
const maxReadBytes = 256 * 1024
const namesInReply = 100

const setAttributes = (path: string, { atime, mode, mtime, size }: Partial<Attributes>) =>
  attemptFileCall(async () => {
    if (isSet(size)) await truncate(path, size)
    if (isSet(mode)) await chmod(path, mode & 0o7777)
    if (isSet(atime) && isSet(mtime)) await utimes(path, atime, mtime)
  })

const setFileAttributes = (file: FileHandle, { atime, mode, mtime, size }: Partial<Attributes>) =>
  attemptFileCall(async () => {
    if (isSet(size)) await file.truncate(size)
    if (isSet(mode)) await file.chmod(mode & 0o7777)
    if (isSet(atime) && isSet(mtime)) await file.utimes(atime, mtime)
  })

/** Real path; as with OpenSSH, the last name need not exist. */
const realPathOf = (path: string) =>
  attemptFileCall(() => realpath(path)).pipe(
    Effect.catchIf(({ code }) => code === "ENOENT" && dirname(path) !== path, () =>
      Effect.map(attemptFileCall(() => realpath(dirname(path))), (parent) => join(parent, basename(path))))
  )

/** Rename without replacing: SFTP version 3 refuses existing targets. */
const renameNew = (from: string, to: string) =>
  attemptFileCall(() => lstat(to)).pipe(
    Effect.flatMap(() => new SftpRefused({ code: "EEXIST", reason: "Failure: the new name is taken" })),
    Effect.catchIf(({ code }) => code === "ENOENT", () => attemptFileCall(() => rename(from, to)))
  )

const readAt = (file: FileHandle, offset: number, length: number) =>
  attemptFileCall(async () => {
    const buffer = Buffer.allocUnsafe(Math.min(length, maxReadBytes))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
    return buffer.subarray(0, bytesRead)
  })

const writeAt = (file: FileHandle, offset: number, data: Buffer) =>
  attemptFileCall(async () => {
    for (let done = 0; done < data.length;) {
      done += (await file.write(data, done, data.length - done, offset + done)).bytesWritten
    }
  })

/** Reads the next entries of a directory; omits names removed since it was opened. */
const nextEntries = (directory: OpenDirectory) =>
  Effect.forEach(
    directory.next(namesInReply),
    (name) =>
      attemptFileCall(() => lstat(join(directory.path, name))).pipe(
        Effect.map((stats) => [toSftpEntry(name, stats)]),
        Effect.orElseSucceed(() => [])
      ),
    { concurrency: 16 }
  ).pipe(Effect.map((entries) => entries.flat()))

const statusOf = ({ code }: SftpRefused): number =>
  code === "ENOENT"
    ? STATUS_CODE.NO_SUCH_FILE
    : code === "EACCES" || code === "EPERM"
    ? STATUS_CODE.PERMISSION_DENIED
    : STATUS_CODE.FAILURE

/** Serves an SFTP session until its channel closes, then closes its files. Relative paths start at the home. */
export const serveSftp = ({ confined, gone, home, sftp }: SftpOptions): Effect.Effect<void> =>
  Effect.gen(function*() {
    const resolve = makeResolvePath(home, confined)
    const handles = yield* makeSftpHandles
    const fork = yield* FiberSet.makeRuntime<never>()
    const places = yield* Effect.makeSemaphore(maxConcurrentRequests)

    /** Handles a request: responds with `send` on success, else with the failure's status. */
    const reply = <A>(id: number, work: Effect.Effect<A, SftpRefused>, send: (result: A) => void) =>
      fork(
        work.pipe(
          Effect.match({
            onSuccess: send,
            onFailure: (refused) => sftp.status(id, statusOf(refused), refused.reason)
          }),
          places.withPermits(1)
        )
      )
    const replyDone = (id: number, work: Effect.Effect<unknown, SftpRefused>) =>
      reply(id, work, () => sftp.status(id, STATUS_CODE.OK))
    const replyAttributes = (id: number, work: Effect.Effect<Stats, SftpRefused>) =>
      reply(id, work, (stats) => sftp.attrs(id, toSftpAttributes(stats)))
    const replyName = (id: number, work: Effect.Effect<string, SftpRefused>) =>
      reply(id, work, (path) => sftp.name(id, [toNameEntry(path)]))
    const target = <A>(path: string, work: (local: string) => Effect.Effect<A, SftpRefused>) =>
      Effect.flatMap(resolve(path, true), work)
    const entry = <A>(path: string, work: (local: string) => Effect.Effect<A, SftpRefused>) =>
      Effect.flatMap(resolve(path, false), work)

    // Without this, a session that ends while others are busy is never closed on this side.
    sftp.on("end", () => sftp.end())
    sftp.on("OPEN", (id, path, flags, { mode }) => {
      const file = target(
        path,
        (local) => handles.addFile(() => open(local, openFlags(flags), readPermissions(mode, 0o666)))
      )
      reply(id, file, (key) => sftp.handle(id, key))
    })
    sftp.on("OPENDIR", (id, path) => reply(id, target(path, handles.addDirectory), (key) => sftp.handle(id, key)))
    sftp.on("READ", (id, key, offset, length) =>
      reply(
        id,
        Effect.flatMap(handles.file(key), (file) => readAt(file, offset, length)),
        (bytes) => bytes.length === 0 ? sftp.status(id, STATUS_CODE.EOF) : sftp.data(id, bytes)
      ))
    sftp.on("WRITE", (id, key, offset, data) => {
      // ssh2 reuses the packet's buffer after this listener returns.
      const bytes = Buffer.from(data)
      replyDone(id, Effect.flatMap(handles.file(key), (file) => writeAt(file, offset, bytes)))
    })
    sftp.on("READDIR", (id, key) =>
      reply(
        id,
        Effect.flatMap(handles.directory(key), nextEntries),
        (entries) => entries.length === 0 ? sftp.status(id, STATUS_CODE.EOF) : sftp.name(id, entries)
      ))
    sftp.on("CLOSE", (id, key) => replyDone(id, handles.close(key)))
    sftp.on(
      "FSTAT",
      (id, key) => replyAttributes(id, Effect.flatMap(handles.file(key), (file) => attemptFileCall(() => file.stat())))
    )
    sftp.on(
      "FSETSTAT",
      (id, key, attributes) =>
        replyDone(id, Effect.flatMap(handles.file(key), (file) => setFileAttributes(file, attributes)))
    )
    sftp.on("STAT", (id, path) => replyAttributes(id, target(path, (local) => attemptFileCall(() => stat(local)))))
    sftp.on("LSTAT", (id, path) => replyAttributes(id, entry(path, (local) => attemptFileCall(() => lstat(local)))))
    sftp.on(
      "SETSTAT",
      (id, path, attributes) => replyDone(id, target(path, (local) => setAttributes(local, attributes)))
    )
    sftp.on("REALPATH", (id, path) => replyName(id, target(path, realPathOf)))
    sftp.on("READLINK", (id, path) => replyName(id, entry(path, (local) => attemptFileCall(() => readlink(local)))))
    sftp.on(
      "MKDIR",
      (id, path, { mode }) =>
        replyDone(id, entry(path, (local) => attemptFileCall(() => mkdir(local, readPermissions(mode, 0o777)))))
    )
    sftp.on("RMDIR", (id, path) => replyDone(id, entry(path, (local) => attemptFileCall(() => rmdir(local)))))
    sftp.on("REMOVE", (id, path) => replyDone(id, entry(path, (local) => attemptFileCall(() => unlink(local)))))
    sftp.on(
      "RENAME",
      (id, from, to) => replyDone(id, entry(from, (local) => entry(to, (renamed) => renameNew(local, renamed))))
    )

    yield* gone
  }).pipe(Effect.scoped, Effect.withSpan("serveSftp"))
