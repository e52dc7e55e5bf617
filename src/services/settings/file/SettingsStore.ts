import type { Effect, Either, Option } from "effect"
import type { SettingsInvalid, SettingsUnavailable } from "../../../schema/Settings.ts"
import type { SettingsDocument } from "../read/settingsDocument.ts"

/** Text of the settings at one moment, and its decoded document. */
export interface Snapshot {
  readonly text: string
  /** False when the file was neither named nor confirmed, so that its text is omitted. */
  readonly isConfirmed?: false
  /** False when the file does not exist, and all settings have their defaults. */
  readonly isStored?: false
  readonly document: Either.Either<SettingsDocument, SettingsInvalid>
}

/** Result of an edit, and the new text if it changes. */
export type Edited<A> = readonly [answer: A, text: Option.Option<string>]

/** Source and destination of the text of the settings. */
export interface SettingsStore {
  /** An absolute local path; relative paths in the settings are relative to its directory. */
  readonly file: string
  readonly current: Effect.Effect<Snapshot, SettingsUnavailable>
  /** Replaces the text with the result of `edit`, excluding concurrent changes. */
  readonly change: <A, E>(
    edit: (snapshot: Snapshot) => Effect.Effect<Edited<A>, E>
  ) => Effect.Effect<A, E | SettingsUnavailable>
}
