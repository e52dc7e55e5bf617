import type { Path } from "@effect/platform"
import { Effect, Layer } from "effect"
import type { LocalFiles } from "../local/LocalFiles.ts"
import type { Locks } from "../locks/Locks.ts"
import { clearUnfinished } from "./file/clearUnfinished.ts"
import { type SettingsLocation, toSettingsLocation } from "./file/locateSettings.ts"
import { makeEditableFile } from "./file/makeEditableFile.ts"
import { makeSettings } from "./makeSettings.ts"
import { Settings } from "./Settings.ts"

/**
 * The settings in a YAML file, read again whenever it has changed. A file that does not exist means the defaults; one
 * that nobody named is judged each time, and is in use only as it was confirmed.
 */
export const SettingsLive = (
  given: SettingsLocation | string
): Layer.Layer<Settings, never, LocalFiles | Locks | Path.Path> =>
  Layer.effect(
    Settings,
    Effect.suspend(() => {
      const place = toSettingsLocation(given)
      return clearUnfinished(place.file).pipe(Effect.zipRight(makeEditableFile(place)), Effect.flatMap(makeSettings))
    })
  )
