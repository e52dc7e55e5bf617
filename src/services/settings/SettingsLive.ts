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
 * Settings in a YAML file, which is read again whenever it has changed. A missing file means the defaults. A file that
 * was not named explicitly applies only while its current text is confirmed.
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
