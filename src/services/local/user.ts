import { Effect, Option } from "effect"
import { constants, type Stats } from "node:fs"
import { open } from "node:fs/promises"
import { homedir, hostname, userInfo } from "node:os"
import { isAbsolute, parse } from "node:path"
import { NotReadable, readErrorCode } from "./LocalFiles.ts"

// Windows has neither these flags nor Unix owners and permissions.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
const isWindows = process.platform === "win32"

const refusal = (info: Stats, most: number): string | undefined => {
  if (!info.isFile()) return "it is not a regular file"
  if (!isWindows && info.uid !== process.geteuid?.()) return "it belongs to another user"
  if (!isWindows && (info.mode & 0o077) !== 0) return "others on this machine may read or change it"
  return info.size > most ? `it is larger than ${most} bytes` : undefined
}

/**
 * Reads a file that only this user may read and change; does not follow a link. Fails with the reason, with code ENOENT
 * when the file does not exist.
 */
export const readPrivateFile = (file: string, most: number): Effect.Effect<string, NotReadable> =>
  Effect.acquireUseRelease(
    Effect.tryPromise({
      try: () => open(file, flags),
      catch: (cause) => {
        const code = readErrorCode(cause)
        return new NotReadable({ code, message: code === "ELOOP" ? "it is a link" : "it cannot be opened" })
      }
    }),
    (handle) =>
      Effect.tryPromise({
        try: async () => {
          const reason = refusal(await handle.stat(), most)
          if (reason !== undefined) throw new Error(reason)
          return await handle.readFile("utf8")
        },
        catch: (cause) =>
          new NotReadable({ code: "", message: cause instanceof Error ? cause.message : "it cannot be read" })
      }),
    (handle) => Effect.promise(() => handle.close())
  )

const known = Option.liftThrowable(homedir)
const recorded = Option.liftThrowable(() => userInfo().homedir)

/**
 * Home directory of the user, from the environment, else from the system's user database; the root of the file system
 * if neither has one.
 * Always absolute: with an empty or relative `HOME`, files of the working directory would be taken for the user's own.
 */
export const resolveHomeDirectory = (): string =>
  known().pipe(
    Option.filter(isAbsolute),
    Option.orElse(() => Option.filter(recorded(), isAbsolute)),
    Option.getOrElse(() => parse(process.cwd()).root)
  )

/**
 * Name of this process's user, from the system, else from the environment. A user id without an entry, as in
 * containers, may have neither.
 */
export const readUserName = (recorded = () => userInfo().username): string =>
  Option.getOrElse(Option.liftThrowable(recorded)(), () => process.env["LOGNAME"] ?? process.env["USER"] ?? "")

/** User and machine of this process, on one line: `alice@laptop`, or `10001@laptop` for a user without a name. */
export const formatUserAtMachine = (name = readUserName()): string =>
  `${name === "" ? process.getuid?.() ?? "somebody" : name}@${hostname()}`.replace(/[\0\r\n]+/g, " ")
