import { Effect } from "effect"
import { constants } from "node:fs"
import { chmod, type FileHandle, lstat, mkdir, open, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { readErrorCode } from "../../local/readErrorCode.ts"

/** Suffixes of the files that SQLite creates beside a database. */
const companions = ["-wal", "-journal", "-shm"]
const isWindows = process.platform === "win32"
const othersBits = 0o077

/** First bytes of every SQLite database. */
const magic = Buffer.from("SQLite format 3\0")

const beginsAsDatabase = async (handle: FileHandle) => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0)
  return bytesRead === magic.length && buffer.equals(magic)
}

const isLink = async (path: string) => {
  try {
    return (await lstat(path)).isSymbolicLink()
  } catch (cause) {
    if (readErrorCode(cause) === "ENOENT") return false
    throw cause
  }
}

const refuseLinks = async (file: string) => {
  for (const companion of companions) {
    if (await isLink(file + companion)) {
      throw new Error(`${file}${companion} is a link, which is not followed. Remove it`)
    }
  }
  if (!await isLink(file)) return
  // A link in a directory that others can write to could redirect the writes to any file.
  const target = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined)
  try {
    if (target !== undefined && (await target.stat()).isFile() && await beginsAsDatabase(target)) return
  } finally {
    await target?.close()
  }
  throw new Error("it is a link to something that is not a database, and is not followed. Remove it")
}

/** Removes the permissions of other users; returns true if there were any. */
const closeToOthers = async (path: string) => {
  const { mode } = await stat(path)
  if ((mode & othersBits) === 0) return false
  await chmod(path, mode & ~othersBits & 0o777)
  return true
}

const closeAllToOthers = async (file: string) => {
  const opened: Array<string> = []
  for (const path of [file, ...companions.map((companion) => file + companion)]) {
    const isClosed = await closeToOthers(path).catch((cause: unknown) => {
      if (readErrorCode(cause) === "ENOENT") return false
      throw cause
    })
    if (isClosed) opened.push(path)
  }
  return opened
}

const made = async (file: string) => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await refuseLinks(file)
  await (await open(file, "a", 0o600)).close()
}

/**
 * Creates the file of a database, unless it exists, and makes it and its companions private. A link is followed only to a
 * database.
 */
export const ensureStateFile = <E>(file: string, failed: (cause: unknown) => E): Effect.Effect<void, E> =>
  Effect.gen(function*() {
    yield* Effect.tryPromise({ try: () => made(file), catch: failed })
    if (isWindows) return
    yield* Effect.matchEffect(Effect.tryPromise(() => closeAllToOthers(file)), {
      onSuccess: (opened) =>
        opened.length === 0 ? Effect.void : Effect.logWarning(
          `Others on this machine could read or change ${
            opened.join(", ")
          }, which holds what runs did. They cannot any more`
        ),
      onFailure: () =>
        Effect.logWarning(
          `Others on this machine can read or change ${file}, and it belongs to somebody else: chmod 600 it`
        )
    })
  })
