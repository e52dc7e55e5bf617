import type { Effect, Either, Option } from "effect"
import type { SettingsInvalid, SettingsUnavailable } from "../../../schema/Settings.ts"
import type { SettingsDocument } from "../read/settingsDocument.ts"

/** The text of the settings at one moment, and what it says. */
export interface Snapshot {
  readonly text: string
  /** False where there is a text that nobody named nor confirmed, which is left out. */
  readonly isConfirmed?: false
  /** False when the file does not exist, and all settings have their defaults. */
  readonly isStored?: false
  readonly document: Either.Either<SettingsDocument, SettingsInvalid>
}

/** Result of an edit, and the new text unless nothing changes. */
export type Edited<A> = readonly [answer: A, text: Option.Option<string>]

/** Source and destination of the text of the settings. */
export interface SettingsStore {
  /** An absolute local path; relative paths in the settings are relative to its directory. */
  readonly file: string
  readonly current: Effect.Effect<Snapshot, SettingsUnavailable>
  /** Replaces the text by what `edit` makes of it, while nobody else changes it. */
  readonly change: <A, E>(
    edit: (snapshot: Snapshot) => Effect.Effect<Edited<A>, E>
  ) => Effect.Effect<A, E | SettingsUnavailable>
}
