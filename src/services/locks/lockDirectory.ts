import { Config, Effect, Option } from "effect"
import { createHash } from "node:crypto"
import { mkdir, readdir, rmdir, stat } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { homeDirectory } from "../local/homeDirectory.ts"

/** A holder renews its lock every second: one this old belongs to nobody. */
const forgottenMillis = 60 * 60 * 1000

const under = (variable: string) => Config.option(Config.nonEmptyString(variable))

/**
 * Where the locks are that all processes of a user share: `berth/locks` in the user's state directory, which is
 * `XDG_STATE_HOME` or `~/.local/state`, on Windows `LOCALAPPDATA`.
 */
export const lockDirectory: Effect.Effect<string> = under(
  process.platform === "win32" ? "LOCALAPPDATA" : "XDG_STATE_HOME"
).pipe(
  Effect.orElseSucceed(() => Option.none<string>()),
  // A relative one counts for nothing: the working directory's files are not the user's own.
  Effect.map(Option.filter(isAbsolute)),
  Effect.map(Option.getOrElse(() => join(homeDirectory(), ".local", "state"))),
  Effect.map((state) => join(state, "berth", "locks"))
)

/** The file whose lock a name is: names are of any length, and of any letters. */
export const lockFile = (directory: string, name: string): string =>
  join(directory, createHash("sha256").update(name).digest("hex").slice(0, 32))

/** Makes the directory, for its user alone, and clears it of what killed processes left. */
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
