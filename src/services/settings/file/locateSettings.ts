import { FileSystem, Path } from "@effect/platform"
import { Config, Effect, Option } from "effect"
import { resolveHomeDirectory } from "../../local/resolveHomeDirectory.ts"
import { toAbsolutePath } from "../read/toAbsolutePath.ts"

/** Path of the settings file, whether or not it exists. */
export interface SettingsLocation {
  readonly file: string
  /** False when the file was only found in the working directory: it applies once it is confirmed. */
  readonly isNamed: boolean
}

export const toSettingsLocation = (given: SettingsLocation | string): SettingsLocation =>
  typeof given === "string" ? { file: given, isNamed: true } : given

/** A file in the directory of the user's own settings. */
export const resolveOwnSettingsPath = (path: Path.Path, name: string): string =>
  path.join(resolveHomeDirectory(), ".config", "berth", name)

/**
 * Locates the settings file: the given one, else the one in `BERTH_CONFIG`, else `berth.yaml` in the working directory
 * if it exists, else `~/.config/berth/berth.yaml`.
 */
export const locateSettings = Effect.fn("locateSettings")(function*(given: Option.Option<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const environment = yield* Config.string("BERTH_CONFIG").pipe(Config.withDefault(""))
  const named = Option.getOrElse(given, () => environment)
  const here = path.resolve("berth.yaml")
  if (named !== "") return toSettingsLocation(toAbsolutePath(path, path.dirname(here), named))
  const own = resolveOwnSettingsPath(path, "berth.yaml")
  const isHere = here !== own && (yield* Effect.orElseSucceed(fs.exists(here), () => true))
  return isHere ? { file: here, isNamed: false } : toSettingsLocation(own)
})
