import { Effect } from "effect"
import { constants, type Stats } from "node:fs"
import { open } from "node:fs/promises"
import { NotReadable } from "./openRegular.ts"
import { readErrorCode } from "./readErrorCode.ts"

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
