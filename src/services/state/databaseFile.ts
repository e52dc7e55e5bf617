import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import Database from "libsql"
import { constants } from "node:fs"
import { chmod, type FileHandle, lstat, mkdir, open as openFile, rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { readErrorCode } from "../local/LocalFiles.ts"

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
  const target = await openFile(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined)
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
  await (await openFile(file, "a", 0o600)).close()
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

const pragmas = ["locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]

/**
 * Closes a database and unlocks its file at once; libsql alone would keep the lock until its statements are
 * garbage-collected.
 */
export const release = (database: Database.Database) => {
  for (
    const statement of ["PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = NORMAL", "SELECT 1 FROM sqlite_master"]
  ) {
    try {
      database.prepare(statement).all()
    } catch {
      // The file was not locked, or is damaged.
    }
  }
  database.close()
}

export const failed = (cause: unknown) =>
  new SqlError({ cause, message: cause instanceof Error ? cause.message : String(cause) })

export const call = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failed })

/** A database that is open, with the identity of its file. */
export interface OpenDatabase {
  database: Database.Database
  readonly prepared: Map<string, Database.Statement<Array<unknown>>>
  inode: bigint | undefined
}

/** Opens a database and locks its file. */
const openDatabase = (file: string) => {
  const database = new Database(file)
  try {
    for (const pragma of pragmas) database.prepare(`PRAGMA ${pragma}`).all()
    // The lock is taken with the first write.
    database.exec("BEGIN IMMEDIATE; COMMIT")
  } catch (cause) {
    release(database)
    throw cause
  }
  return database
}

const inodeOf = (file: string) =>
  stat(file, { bigint: true }).then(({ ino }) => ino, (cause: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(readErrorCode(cause))) return undefined
    throw cause
  })

/** Opens the database of a file, which is locked until it is released. */
export const openDatabaseFile = async (file: string): Promise<OpenDatabase> => ({
  database: openDatabase(file),
  prepared: new Map(),
  inode: await inodeOf(file)
})

/** Pause between two looks at the file of an open database. */
const lookPause = "1 second"

/**
 * Writes an open database to its path again after somebody removed the file, and continues with that one: SQLite itself
 * goes on in the removed file, whose content ends with the process.
 */
const writeAnew = async (file: string, open: OpenDatabase) => {
  const part = `${file}.part`
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await rm(part, { force: true })
    await (await openFile(part, "wx", 0o600)).close()
    open.database.prepare(`VACUUM INTO '${part.replaceAll("'", "''")}'`).run()
  } catch (cause) {
    await rm(part, { force: true }).catch(() => undefined)
    throw cause
  }
  // SQLite removes the log of a closed database by its name, and must not meet a log that belongs to another one.
  release(open.database)
  for (const companion of companions) await rm(file + companion, { force: true })
  await rename(part, file)
  open.database = openDatabase(file)
  open.prepared.clear()
  open.inode = await inodeOf(file)
}

/** State of a database in the place of another one; one without runs is what a command leaves that only read. */
const inspectReplacement = (file: string): "empty" | "used" | "held" => {
  try {
    const database = openDatabase(file)
    try {
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE name = 'runs'").all()
      const hasRuns = tables.length > 0 && database.prepare("SELECT id FROM runs LIMIT 1").all().length > 0
      return hasRuns ? "used" : "empty"
    } finally {
      release(database)
    }
  } catch {
    return "held"
  }
}

/** Keeps the file of an open database at its path. */
export const keepFile = (file: string, open: OpenDatabase, exclusive: Effect.Semaphore) => {
  let warned = ""
  // Looked into once: opening it writes to it.
  let used: bigint | undefined
  const warn = (words: string) =>
    Effect.suspend(() => {
      const isKnown = warned === words
      warned = words
      return isKnown ? Effect.void : Effect.logWarning(words)
    })
  const look = Effect.gen(function*() {
    const inode = yield* call(() => inodeOf(file))
    if (inode === open.inode) return
    const state = inode === undefined ? "empty" : inode === used ? "used" : inspectReplacement(file)
    if (state === "used") used = inode
    if (state !== "empty") {
      return yield* warn(`${file} was replaced while Berth used it: restart Berth, which records runs in the old one`)
    }
    yield* call(() => writeAnew(file, open))
    yield* warn(`${file} was removed while Berth used it, and was written again`)
    warned = ""
  })
  // The copy and the new file follow each other without a pause between them.
  return Effect.uninterruptible(exclusive.withPermits(1)(look)).pipe(
    Effect.catchAll(({ message }) =>
      warn(`${file} was removed while Berth used it, and cannot be written: ${message}`)
    ),
    Effect.delay(lookPause),
    Effect.forever
  )
}
