import { FileSystem, Path } from "@effect/platform"
import { Config, Effect } from "effect"
import { homedir } from "node:os"
import { absolutePath } from "./localPath.ts"

/**
 * Where the settings file is, whether or not it exists: what `BERTH_CONFIG` names, else `berth.yaml` in the working
 * directory when there is one, else `~/.config/berth/berth.yaml`.
 */
export const settingsFile = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const named = yield* Config.string("BERTH_CONFIG").pipe(Config.withDefault(""))
  const here = path.resolve("berth.yaml")
  if (named !== "") return absolutePath(path, path.dirname(here), named)
  const isHere = yield* Effect.orElseSucceed(fs.exists(here), () => true)
  return isHere ? here : path.join(homedir(), ".config", "berth", "berth.yaml")
})
