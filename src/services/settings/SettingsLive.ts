import type { Path } from "@effect/platform"
import { Effect, Layer } from "effect"
import type { LocalFiles } from "../local/LocalFiles.ts"
import type { Locks } from "../locks/Locks.ts"
import { clearUnfinished } from "./clearUnfinished.ts"
import { editableFile } from "./editableFile.ts"
import { Settings } from "./Settings.ts"
import { settingsFrom } from "./settingsFrom.ts"

/** The settings in a YAML file, read again whenever it has changed. A file that does not exist means the defaults. */
export const SettingsLive = (
  file: string
): Layer.Layer<Settings, never, LocalFiles | Locks | Path.Path> =>
  Layer.effect(Settings, clearUnfinished(file).pipe(Effect.zipRight(editableFile(file)), Effect.flatMap(settingsFrom)))
