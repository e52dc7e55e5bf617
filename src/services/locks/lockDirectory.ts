import { Config, Effect, Option } from "effect"
import { createHash } from "node:crypto"
import { mkdir, readdir, rmdir, stat } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { resolveHomeDirectory } from "../local/resolveHomeDirectory.ts"

/** Locks are renewed every second: older ones were left by killed processes. */
const forgottenMillis = 60 * 60 * 1000

const under = (variable: string) => Config.option(Config.nonEmptyString(variable))

/**
 * Directory of the locks shared by all processes of a user: `berth/locks` in `XDG_STATE_HOME` or `~/.local/state`, on
 * Windows in `LOCALAPPDATA`.
 */
export const lockDirectory: Effect.Effect<string> = under(
  process.platform === "win32" ? "LOCALAPPDATA" : "XDG_STATE_HOME"
).pipe(
  Effect.orElseSucceed(() => Option.none<string>()),
  // A relative path is ignored: it would depend on the working directory.
  Effect.map(Option.filter(isAbsolute)),
  Effect.map(Option.getOrElse(() => join(resolveHomeDirectory(), ".local", "state"))),
  Effect.map((state) => join(state, "berth", "locks"))
)

/** Path of the lock file for a name of any length and any characters. */
export const formatLockFile = (directory: string, name: string): string =>
  join(directory, createHash("sha256").update(name).digest("hex").slice(0, 32))

/** Creates the directory, private to its user, and removes locks of killed processes. */
export const prepare = (directory: string): Effect.Effect<void, Error> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const old = Date.now() - forgottenMillis
      for (const name of await readdir(directory)) {
        const lock = join(directory, name)
        const isOld = await stat(lock).then(({ mtimeMs }) => mtimeMs < old, () => false)
        if (isOld) await rmdir(lock).catch(() => undefined)
      }
    },
    catch: (cause) => cause instanceof Error ? cause : new Error(String(cause))
  })
