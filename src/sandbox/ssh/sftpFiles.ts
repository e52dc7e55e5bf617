import { Effect, FiberSet } from "effect"
import type { Stats } from "node:fs"
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  rmdir,
  stat,
  truncate,
  unlink,
  utimes
} from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import ssh2 from "ssh2"
import type { Attributes, SFTPWrapper } from "ssh2"
import { makeResolvePath } from "./remotePath.ts"
import { isSet, openFlags, readPermissions, toNameEntry, toSftpAttributes, toSftpEntry } from "./sftpAttributes.ts"
import { makeSftpHandles, type OpenDirectory } from "./sftpHandles.ts"
import { attemptFileCall, SftpRefused } from "./SftpRefused.ts"

export interface SftpOptions {
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
