import { Predicate } from "effect"

/** The code that SQLite or the system gave to a failure, `SQLITE_FULL` for instance; empty when it gave none. */
export const sqlCode = (error: unknown): string => {
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

/** Why a database could not be used, in words that help. */
export const reasonOf = (error: { readonly message: string }): string =>
  reasons.find(([code]) => code.test(sqlCode(error)))?.[1] ?? error.message

/** Whether the file itself cannot be read as a database. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(sqlCode(error))

/** Whether another process has the file. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(sqlCode(error))
