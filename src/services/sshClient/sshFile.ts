import { Effect } from "effect"
import { NotReadable, openRegular } from "../local/openRegular.ts"

const mebibyte = 1024 * 1024

/**
 * Reads a file of the SSH client, up to 1 MiB. As OpenSSH requires, it must belong to this user or root, and others
 * must not be able to write to it. Links are followed, and the target is checked.
 */
export const readSshFile = (path: string): Effect.Effect<string, NotReadable> =>
  Effect.scoped(Effect.gen(function*() {
    const file = yield* openRegular(path)
    const refuse = (message: string) => new NotReadable({ code: "", message })
    const info = yield* Effect.tryPromise({ try: () => file.stat(), catch: () => refuse("cannot be read") })
    const isTrusted = process.platform === "win32" ||
      ((info.uid === 0 || info.uid === process.geteuid?.()) && (info.mode & 0o022) === 0)
    if (!isTrusted) return yield* refuse("belongs to another user, or others may change it")
    if (info.size > mebibyte) return yield* refuse("is larger than 1 MiB")
    return yield* Effect.tryPromise({ try: () => file.readFile("utf8"), catch: () => refuse("cannot be read") })
  }))
