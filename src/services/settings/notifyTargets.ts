import { Effect, Ref } from "effect"
import type { NotifyTarget } from "../../schema/notify/NotifyTarget.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { SettingsDocument } from "./read/settingsDocument.ts"
import type { notifyTargetReader } from "./read/storedNotifyTargets.ts"

/** Reads the targets of notifications; returns the last ones while the file cannot be read. */
export const makeNotifyTargets = (
  document: Effect.Effect<SettingsDocument, SettingsError>,
  reader: ReturnType<typeof notifyTargetReader>
): Effect.Effect<Effect.Effect<ReadonlyArray<NotifyTarget>>> =>
  Effect.map(Ref.make<ReadonlyArray<NotifyTarget>>([]), (last) =>
    document.pipe(
      Effect.flatMap(({ targets }) => reader.all(targets)),
      Effect.tap((targets) => Ref.set(last, targets)),
      Effect.orElse(() => Ref.get(last))
    ))
