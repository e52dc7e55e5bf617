import { Predicate } from "effect"

/** Code of an error of SQLite or the system, such as `SQLITE_FULL`; empty without one. */
export const readSqlCode = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : error
  return Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""
}

const reasons: ReadonlyArray<readonly [code: RegExp, reason: string]> = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, "the disk is full. Free some space; it goes on by itself then"],
  [
    /^(SQLITE_(READONLY|CANTOPEN|PERM|AUTH)|EACCES|EPERM|EROFS)/,
    "the file cannot be opened or written. Check who owns it and its directory"
  ],
  [/^EISDIR/, "a directory is in its place. Move that away; it goes on by itself then"],
  [/^SQLITE_(BUSY|LOCKED)/, "another Berth of this machine uses it. Stop that one, or use its address"],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    "the file is damaged. Start the service again: it sets the file aside and begins a new one"
  ],
  [/^SQLITE_IOERR/, "the disk does not take or give its data. Check that it is not full and not broken"]
]

/** Explains an error of the database to users. */
export const sqlReason = (error: { readonly message: string }): string =>
  reasons.find(([code]) => code.test(readSqlCode(error)))?.[1] ?? error.message

/** Reports whether the file is not a valid database. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(readSqlCode(error))

/** Reports whether another process holds the file. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(readSqlCode(error))
