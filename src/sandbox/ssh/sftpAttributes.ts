import { Predicate } from "effect"
import { constants, type Stats } from "node:fs"
import ssh2 from "ssh2"
import type { Attributes, FileEntry } from "ssh2"
import { toSandboxPath } from "./remotePath.ts"

const { OPEN_MODE } = ssh2.utils.sftp

/** True if the request contains the attribute. */
export const isSet = Predicate.isNumber
/** Permission bits of a mode, with a default. */
export const readPermissions = (mode: unknown, otherwise: number) => isSet(mode) ? mode & 0o7777 : otherwise

/** SFTP attributes; times are in seconds. */
export const toSftpAttributes = ({ atimeMs, gid, mode, mtimeMs, size, uid }: Stats): Attributes => ({
  mode,
  uid,
  gid,
  size,
  atime: Math.floor(atimeMs / 1000),
  mtime: Math.floor(mtimeMs / 1000)
})

/** Directory entry. */
export const toSftpEntry = (filename: string, stats: Stats): FileEntry => {
  const type = stats.isDirectory() ? "d" : stats.isSymbolicLink() ? "l" : "-"
  const mode = (stats.mode & 0o777).toString(8).padStart(3, "0")
  return { filename, longname: `${type}${mode} ${stats.size} ${filename}`, attrs: toSftpAttributes(stats) }
}

/** Entry for responses that contain only a path. */
export const toNameEntry = (path: string): FileEntry => {
  const filename = toSandboxPath(path)
  return { filename, longname: filename, attrs: { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 } }
}

/** Converts SFTP's open flags to the system's. */
export const openFlags = (flags: number): number => {
  const when = (asked: number, flag: number) => (flags & asked) === 0 ? 0 : flag
  const write = (flags & OPEN_MODE.WRITE) !== 0
  const access = write
    ? (flags & OPEN_MODE.READ) === 0 ? constants.O_WRONLY : constants.O_RDWR
    : constants.O_RDONLY
  return access | when(OPEN_MODE.APPEND, constants.O_APPEND) | when(OPEN_MODE.CREAT, constants.O_CREAT) |
    when(OPEN_MODE.TRUNC, constants.O_TRUNC) | when(OPEN_MODE.EXCL, constants.O_EXCL)
}
